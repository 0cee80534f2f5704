// A clock that jumped is a clock that jumped: it stamps nothing, it is never called tampering, and it ends by itself.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuditLog, createPool, createSubjectVault, readHeads } from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import { createBatchSigner, parseAuditorPolicy, readRecord, verifyBundle } from '@baton/ledger'
import type { BundleReport } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, opsUrl, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

const FIVE_DAYS_MS = 432_000_000
const MOVING = fileURLToPath(new URL('moving-clock.mjs', import.meta.url))

let fixture: AuditFixture
let sealing: Sealing
let auditor: RunningAuditor
let sealer: ServiceProcess
let auditorClock = ''
let sealerClock = ''

const setClock = (file: string, aheadMs: number) => writeFile(file, String(aheadMs))
const moving = (file: string) => ({
  NODE_OPTIONS: `--import ${MOVING}`,
  BATON_TEST_CLOCK_FILE: file,
})
const newestMicros = async () =>
  Math.max(...(await readHeads(fixture.reader)).map(({ lastMicros }) => lastMicros))
const newestSeal = async () => {
  const text = 'select sealed_at from audit.seal order by seq desc limit 1'
  const { rows } = await fixture.superuser.query<{ sealed_at: Date }>({ text })
  return rows[0]?.sealed_at.getTime() ?? 0
}

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  sealing = await createSealing(fixture)
  auditorClock = join(sealing.folder, 'auditor.clock')
  sealerClock = join(sealing.folder, 'sealer.clock')
  await setClock(auditorClock, 0)
  await setClock(sealerClock, 0)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_SEAL_ANCHOR_FILE: sealing.anchorFile,
    BATON_SEALER_STATE_FILE: sealing.stateFile,
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
    ...moving(auditorClock),
  })
  sealer = await sealing.startSealer({ BATON_SEAL_HEARTBEAT_MS: '100', ...moving(sealerClock) })
  await auditor.client.append([entryOf()])
  await sealing.sealed()
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

describe('one wrong second', () => {
  test('of the auditor is answered with 503, and stamps no chain', async () => {
    await setClock(auditorClock, FIVE_DAYS_MS)
    const refused = await problemOf(await auditor.post({ entries: [entryOf()] }))
    expect(refused).toMatchObject({ status: 503, code: 'BATON_AUDIT_CLOCK' })
    await setClock(auditorClock, 0)
    const [receipt] = await auditor.client.append([entryOf()])
    expect(Date.parse(receipt?.recordedAt ?? '')).toBeLessThan(Date.now() + 2_000)
    expect(await newestMicros()).toBeLessThan((Date.now() + 2_000) * 1_000)
  })

  test('that lasts is said once, measured, and over when it is over', async () => {
    await setClock(auditorClock, FIVE_DAYS_MS)
    await eventually(
      async () => auditor.process.output().includes('"audit.clock_ahead","blocked":true'),
      {
        deadlineMs: 20_000,
        describe: () => auditor.process.output().slice(-2_000),
      },
    )
    const metrics = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
    const ahead = Number(/^baton_audit_clock_ahead_seconds (\S+)/m.exec(metrics)?.[1])
    expect(Math.round(ahead / 60)).toBe(FIVE_DAYS_MS / 60_000)
    await setClock(auditorClock, 0)
    await eventually(
      async () => auditor.process.output().includes('"audit.clock_ahead","blocked":false'),
      {
        deadlineMs: 20_000,
        describe: () => auditor.process.output().slice(-2_000),
      },
    )
  })

  test('of the sealer signs no seal, and sealing goes on by itself', async () => {
    await setClock(sealerClock, FIVE_DAYS_MS)
    await eventually(async () => sealer.output().includes('BATON_AUDIT_CLOCK'), {
      deadlineMs: 20_000,
      describe: () => sealer.output().slice(-2_000),
    })
    expect(await newestSeal()).toBeLessThan(Date.now() + 2_000)
    await setClock(sealerClock, 0)
    await auditor.client.append([entryOf()])
    await sealing.sealed()
    expect(await newestSeal()).toBeLessThan(Date.now() + 2_000)
    const report = await auditor.read<VerifyReport>('/v1/verify')
    expect(report).toMatchObject({ verdict: 'verified', findings: [] })
  })
})

describe('a chain that stands in the future already', () => {
  const taskId = taskOfShard(0, 2)

  const define = (text: string) => fixture.superuser.query({ text })

  /** What an auditor of before could do: the database takes no such time any more. */
  async function appendAhead(): Promise<void> {
    const { rows } = await fixture.superuser.query<{ text: string }>({
      text: `select pg_get_functiondef('audit.append'::regproc) as text`,
    })
    const text = rows[0]?.text ?? ''
    await define(text.replace(`interval '1 minute'`, `interval '2 days'`))
    const open = (url: string) => createPool({ url, applicationName: 'test', connectionsMax: 1 })
    const [db, vaultDb] = [open(fixture.urls.writer), open(fixture.urls.vault)]
    const log = createAuditLog({
      db,
      vault: createSubjectVault({ db: vaultDb, ...fixture.vaultKeys }),
      signer: createBatchSigner(fixture.signingKey),
      environment: 'development',
      nowMicros: () => (Date.now() + 86_400_000) * 1_000,
    })
    await log.append([entryOf({ taskId, segments: [] })])
    await Promise.all([db.end(), vaultDb.end()])
    await define(text)
  }

  test('keeps its order, and is told as a wrong clock by whoever looks', async () => {
    await appendAhead()
    const [receipt] = await auditor.client.append([
      entryOf({ taskId, event: 'EXECUTION_COMPLETED', segments: [] }),
    ])
    await sealing.sealed()
    const { rows } = await fixture.superuser.query<{ body: Buffer }>({
      text: 'select body from audit.record where chain = 0 order by seq desc limit 2',
    })
    const [last, before] = rows.map(({ body }) => readRecord(body)?.recordedAt ?? '')
    expect(receipt?.recordedAt).toBe(last)
    expect((last ?? '') > (before ?? '')).toBe(true)
    expect(await newestSeal()).toBeLessThan(Date.now() + 5_000)

    const report = await auditor.read<VerifyReport>('/v1/verify')
    expect(report).toMatchObject({ ok: false, verdict: 'clock', findingsTotal: 1 })
    expect(report.findings).toMatchObject([{ rule: 'CLOCK', seq: (receipt?.seq ?? 0) - 1 }])
    await eventually(async () => auditor.process.output().includes('"event":"audit.clock_wrong"'), {
      deadlineMs: 20_000,
      describe: () => auditor.process.output().slice(-2_000),
    })
  })

  test('makes evidence that says so, and no alarm of tampering', async () => {
    const response = await fetch(`${auditor.url}/v1/evidence/${taskId}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer evidence-token-14e10d570047667f904261',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ receipts: [] }),
    })
    expect([response.status, response.headers.get('baton-verdict')]).toEqual([200, 'clock'])
    const policy = await fetch(`${auditor.url}/v1/policy`, {
      headers: { authorization: 'Bearer evidence-token-14e10d570047667f904261' },
    })
    const parsed = parseAuditorPolicy(new Uint8Array(await policy.arrayBuffer()))
    const trust = (parsed as Extract<typeof parsed, { ok: true }>).policy
    const bytes = new Uint8Array(await response.arrayBuffer())
    const judge = (now: number): BundleReport['verdict'] =>
      verifyBundle(bytes, { policy: trust, now, thorough: true }).verdict
    expect(judge(Date.now() / 1_000)).toBe('clock')
    expect(auditor.process.output()).not.toContain('audit.evidence_tampered')
    expect(auditor.process.output()).not.toContain('audit.tamper_detected')
    const metrics = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
    expect(metrics).toMatch(/^baton_audit_tamper_detected_total 0$/m)
  })
})
