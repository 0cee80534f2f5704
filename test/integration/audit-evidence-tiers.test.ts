// Evidence of a task whose records left the database, and of one in which a person was erased, verifies all the same.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvidence } from '@baton/audit'
import {
  createBatchSigner,
  formatVerifierKey,
  parseAuditorPolicy,
  SIGNATURE_TYPES,
  verifierKey,
  verifyBundle,
  writeBundle,
} from '@baton/ledger'
import type { AuditEntry, BundleParts } from '@baton/ledger'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture } from './audit-fixture.ts'
import { createSealing } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

function policyOf({ signingKey }: AuditFixture, { sealKey }: Sealing) {
  const vkey = (name: string, pkcs8: string) => {
    const spki = createBatchSigner(pkcs8).publicKey.export({ format: 'der', type: 'spki' })
    const raw = Uint8Array.from(spki.subarray(-32))
    return formatVerifierKey(verifierKey(name, SIGNATURE_TYPES.ed25519, raw))
  }
  const log = `log ${vkey('baton/development/seals', sealKey)}`
  const batch = `# baton-key batch ${vkey('baton/development/append', signingKey)}`
  const parsed = parseAuditorPolicy(Buffer.from([log, 'quorum none', batch, ''].join('\n')))
  if (parsed.ok) return parsed.policy
  throw new Error(parsed.message)
}

function verify(parts: BundleParts, policy: ReturnType<typeof policyOf>) {
  const now = Date.now() / 1_000
  const report = verifyBundle(writeBundle(parts), { policy, now, thorough: true })
  return { ...report, findings: report.checks.flatMap(({ findings }) => findings) }
}

describe('out of the cold store', () => {
  let tiers: Tiers
  beforeAll(async () => {
    tiers = await createTiers()
  }, 60_000)
  afterAll(() => tiers?.close())

  test('records, proof and texts are the ones that were dropped from the database', async () => {
    const taskId = '00000000-0000-4000-8000-000000000001'
    const handoffId = randomUUID()
    await tiers.append(40, 300)
    await tiers.append(40, 1, { taskId, handoffId })
    await tiers.append(40, 300)
    await tiers.append(40, 1, { taskId, handoffId, event: 'EXECUTION_COMPLETED', segments: [] })
    await tiers.append(40, 300)
    await tiers.append(0, 200)
    await tiers.sealing.sealed()
    await tiers.startArchiver()
    await tiers.archived(({ hotFrom }) => hotFrom >= 902)
    await tiers.sealing.sealed()
    const { fixture, sealing, cold, vault } = tiers
    const options = { reader: fixture.reader, taskIds: [taskId], receipts: [], vault, policy: null }
    const evidence = await readEvidence({ ...options, cold })
    const report = verify(evidence?.parts as BundleParts, policyOf(fixture, sealing))
    expect([report.findings, report.verdict, report.records]).toEqual([[], 'valid', 2])
    expect(report.segments.map(({ status }) => status)).toEqual(['present'])
    expect(await readEvidence({ ...options, cold: undefined })).toBeUndefined()
  }, 60_000)
})

describe('after an erasure', () => {
  let fixture: AuditFixture
  let sealing: Sealing
  beforeAll(async () => {
    fixture = await createAuditFixture(1)
    sealing = await createSealing(fixture)
  }, 60_000)
  afterAll(async () => {
    await sealing?.close()
    await fixture?.close()
  })

  test('the texts of the person are erased by record, the others stay', async () => {
    const auditor = await fixture.startAuditor({
      BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
      BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token',
      BATON_AUDIT_PAYLOAD_TOKEN: 'payload-token',
    })
    await sealing.startSealer()
    const [taskId, handoffId, subject] = [randomUUID(), randomUUID(), `person-${randomUUID()}`]
    const segments: AuditEntry['segments'] = [
      { kind: 'message', subject: null, text: 'the contract' },
      { kind: 'personal', subject, text: 'a name to erase' },
    ]
    await auditor.client.append([entryOf({ taskId, handoffId, segments })])
    const end = { event: 'EXECUTION_COMPLETED' as const, segments: [] }
    await auditor.client.append([entryOf({ taskId, handoffId, ...end })])
    const id = randomUUID()
    const affected = { handoffIds: [handoffId], taskIds: [taskId] }
    const plan = { id, subject, basis: 'GDPR_ART_17_1', requestedBy: 'ann', ...affected }
    const confirm = { subject, confirmedBy: 'bob', ...affected }
    expect((await auditor.erase('/v1/erasures', plan)).status).toBe(200)
    expect((await auditor.erase(`/v1/erasures/${id}/confirm`, confirm)).status).toBe(200)
    expect((await auditor.erase(`/v1/erasures/${id}/complete`, { stores: [] })).status).toBe(200)
    const response = await fetch(`${auditor.url}/v1/evidence/${taskId}`, {
      headers: {
        authorization: 'Bearer evidence-token',
        'baton-payload-authorization': 'Bearer payload-token',
      },
    })
    expect(response.headers.get('baton-verdict')).toBe('valid')
    const bundle = new Uint8Array(await response.arrayBuffer())
    const policy = policyOf(fixture, sealing)
    const report = verifyBundle(bundle, { policy, now: Date.now() / 1_000, thorough: true })
    expect(report.verdict).toBe('valid')
    expect(report.segments.map(({ segment, status }) => [segment, status])).toEqual([
      [0, 'present'],
      [1, 'erased'],
    ])
    expect(Buffer.from(bundle).includes('a name to erase')).toBe(false)
  }, 60_000)
})
