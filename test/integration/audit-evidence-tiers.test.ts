// Evidence of a task whose records left the database, and of one in which a person was erased, verifies all the same.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkRows, readEvidence, readTrace } from '@baton/audit'
import type { ShownRow } from '@baton/audit'
import {
  createBatchSigner,
  formatVerifierKey,
  parseAuditorPolicy,
  readRecord,
  SIGNATURE_TYPES,
  verifierKey,
  verifyBundle,
  writeBundle,
} from '@baton/ledger'
import type { AuditEntry, BundleParts } from '@baton/ledger'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
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

const REPETITIVE = 'Clause 7 obliges the licensee. '.repeat(100)
const EVIDENCE = { authorization: 'Bearer evidence-token-14e10d570047667f904261' }

async function exported({ url }: RunningAuditor, taskId: string): Promise<Uint8Array> {
  const headers = {
    ...EVIDENCE,
    'baton-payload-authorization': 'Bearer payload-token-321c3cf486ed509164edec',
  }
  const response = await fetch(`${url}/v1/evidence/${taskId}`, { headers })
  expect(response.headers.get('baton-verdict')).toBe('valid')
  return new Uint8Array(await response.arrayBuffer())
}

/** The texts that a bundle shows, without their salts. */
function textsOf(bundle: Uint8Array): string[] {
  const written = Buffer.from(bundle)
    .toString('latin1')
    .matchAll(/"salted":"([^"]+)"/g)
  return [...written].map(([, salted = '']) => Buffer.from(salted, 'base64').toString('utf8', 32))
}

const run = promisify(execFile)
const VERIFIERS = fileURLToPath(new URL('../../packages/ledger/verifier/', import.meta.url))

/** By the verifiers that share no code with this one's language or checkout. */
async function expectValidOutside({ url }: RunningAuditor, bundle: Uint8Array): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-results-'))
  const [file, policy] = [join(folder, 'task.tar'), join(folder, 'auditor.policy')]
  await writeFile(file, bundle)
  await writeFile(policy, await (await fetch(`${url}/v1/policy`, { headers: EVIDENCE })).text())
  for (const [command, script] of OUTSIDE) {
    const { stdout } = await run(command, [VERIFIERS + script, file, '--policy', policy, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'valid' })
  }
  await rm(folder, { recursive: true })
}

const OUTSIDE = [
  [process.execPath, 'generated/baton-verify.mjs'],
  ['python3', 'baton_verify.py'],
] as const

describe('out of the cold store', () => {
  let tiers: Tiers
  beforeAll(async () => {
    tiers = await createTiers()
  }, 60_000)
  afterAll(() => tiers?.close())

  test('records, proof and texts are the ones that were dropped from the database, and SQL says where they are', async () => {
    const taskId = '00000000-0000-4000-8000-000000000001'
    const handoffId = randomUUID()
    await tiers.append(40, 300)
    const kind = 'message'
    const segments = [{ kind, subject: null, text: REPETITIVE }] as const
    await tiers.append(40, 1, { taskId, handoffId, segments })
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
    const [reference] = readRecord(evidence?.parts.records[0] as Uint8Array)?.payload ?? []
    expect(reference?.bytes).toBe(REPETITIVE.length)
    expect(reference?.zstdBytes).toBeLessThan(REPETITIVE.length / 20)
    expect(await readEvidence({ ...options, cold: undefined })).toBeUndefined()

    const { rows } = await fixture.reader.query<{ row: ShownRow }>({
      text: `select to_jsonb(v) as row from (
        SELECT * FROM handoff_audit WHERE taskId = '${taskId}' ORDER BY timestamp ASC) v`,
    })
    const shown = rows.map(({ row }, at) => [at + 1, row] as const)
    expect(shown.map(([, row]) => [row['handoffid'], row['status'], row['reason']])).toEqual([
      [null, 'ARCHIVED', expect.stringMatching(/^in the cold store: 2 of its records; .*trace/)],
    ])
    const trace = await readTrace(fixture.reader, taskId, { cold })
    expect(checkRows('handoff_audit', shown, trace).findings).toEqual([])
    const lying = shown.map(([at, row]) => [at, { ...row, reason: 'nothing' }] as const)
    expect(checkRows('handoff_audit', lying, trace).findings).toHaveLength(1)
    expect(checkRows('handoff_audit', [], trace).findings).toHaveLength(1)
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

  test('the texts of the person and what came out are erased by record, the others stay', async () => {
    const auditor = await fixture.startAuditor({
      BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
      BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
      BATON_AUDIT_PAYLOAD_TOKEN: 'payload-token-321c3cf486ed509164edec',
    })
    await sealing.startSealer()
    const [taskId, handoffId, subject] = [randomUUID(), randomUUID(), `person-${randomUUID()}`]
    const segments: AuditEntry['segments'] = [
      { kind: 'message', subject: null, text: 'the contract' },
      { kind: 'personal', subject, text: 'a name to erase' },
    ]
    await auditor.client.append([entryOf({ taskId, handoffId, segments })])
    const answers: AuditEntry['segments'] = [
      { kind: 'result', subject, text: JSON.stringify('Ada may go') },
      { kind: 'task-result', subject, text: JSON.stringify(REPETITIVE) },
    ]
    const end = { event: 'EXECUTION_COMPLETED' as const, model: 'lexis-7b', segments: answers }
    await auditor.client.append([entryOf({ taskId, handoffId, ...end })])
    const whole = await exported(auditor, taskId)
    expect(textsOf(whole)).toContain(JSON.stringify(REPETITIVE))
    await expectValidOutside(auditor, whole)
    const id = randomUUID()
    const affected = { handoffIds: [handoffId], taskIds: [taskId] }
    const plan = { id, subject, basis: 'GDPR_ART_17_1', requestedBy: 'ann', ...affected }
    const confirm = { subject, confirmedBy: 'bob', ...affected }
    expect((await auditor.erase('/v1/erasures', plan)).status).toBe(200)
    expect((await auditor.erase(`/v1/erasures/${id}/confirm`, confirm)).status).toBe(200)
    expect((await auditor.erase(`/v1/erasures/${id}/complete`, { stores: [] })).status).toBe(200)
    const bundle = await exported(auditor, taskId)
    const policy = policyOf(fixture, sealing)
    const report = verifyBundle(bundle, { policy, now: Date.now() / 1_000, thorough: true })
    expect(report.verdict).toBe('valid')
    expect(report.segments.map(({ segment, status }) => [segment, status])).toEqual([
      [0, 'present'],
      [1, 'erased'],
      [0, 'erased'],
      [1, 'erased'],
    ])
    expect(textsOf(bundle)).toEqual(['the contract'])
    await expectValidOutside(auditor, bundle)
  }, 60_000)
})
