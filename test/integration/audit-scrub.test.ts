// The scrubber reads everything again, also what no seal covers, and goes on where it was.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readScrubPosition } from '@baton/audit'
import { eventually } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'
import { rewriteSuffix } from './audit-seals-rewrite.ts'

interface Status {
  readonly passRecords: number
  readonly lastPass: { readonly records: number; readonly findings: number } | null
  readonly findings: readonly { readonly rule: string; readonly seq: number }[]
}

let fixture: AuditFixture
let sealing: Sealing

const scrubbed = async (auditor: RunningAuditor): Promise<Status> => {
  let status: Status | undefined
  await eventually(
    async () => {
      status = await auditor.read<Status>('/v1/scrub')
      return status.lastPass !== null
    },
    { deadlineMs: 30_000, describe: () => `a whole pass\n${auditor.process.output()}` },
  )
  return status as Status
}

/** A pass of its own: a new process, and no position to go on from. */
async function scrub(): Promise<Status> {
  await fixture.superuser.query({ text: 'delete from audit.scrub' })
  return fixture.guards.inPlace(async () => {
    const auditor = await fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: sealing.publicKey })
    const status = await scrubbed(auditor)
    // What is shown is stored a moment later, and not at all by a process that was killed.
    await eventually(async () => (await readScrubPosition(fixture.reader))?.lastPass, {
      deadlineMs: 10_000,
      describe: 'the pass is stored',
    })
    await auditor.process.kill()
    return status
  })
}

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  sealing = await createSealing(fixture)
  const auditor = await fixture.startAuditor()
  const tasks = [0, 1].map((shard) => taskOfShard(shard, 2))
  for (let round = 0; round < 5; round += 1) {
    await auditor.client.append(tasks.map((taskId) => entryOf({ taskId })))
  }
  await auditor.process.kill()
  const sealer = await sealing.startSealer()
  await sealing.sealed()
  await sealer.stop()
  await fixture.guards.lift(['record', 'payload', 'idem', 'batch_sig', 'head'])
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

test('an untouched log has no finding, and the pass is remembered', async () => {
  const status = await scrub()
  // Behind the ten stands what the second auditor began with.
  expect(status.lastPass).toMatchObject({ records: 11, findings: 0 })
  expect(status.findings).toEqual([])
  // What is shown is stored a moment later.
  const stored = async () => (await readScrubPosition(fixture.reader))?.lastPass
  const kept = await eventually(stored, {
    deadlineMs: 10_000,
    describe: () => 'the pass is stored',
  })
  expect(kept.records).toBe(11)
})

test.each([
  ['an index column', 'update audit.record set event = 2', 'RECORD_COLUMNS'],
  ['a payload', 'delete from audit.payload', 'PAYLOAD_MISSING'],
  [
    'a batch signature under a seal',
    `update audit.batch_sig set signature = set_byte(signature, 0, 255 - get_byte(signature, 0))`,
    'BATCH_SIGNATURE',
  ],
])('T07 T24 %s is found where it is', async (_, change, rule) => {
  const table = /audit\.(\w+)/.exec(change)?.[1] ?? ''
  const seq = table === 'batch_sig' ? 'last_seq' : 'seq'
  await fixture.superuser.query({ text: `create table kept as table audit.${table}` })
  await fixture.superuser.query({ text: `${change} where chain = 1 and ${seq} = 3` })
  const { findings } = await scrub()
  expect(findings.map((finding) => `${finding.rule}@${finding.seq}`)).toEqual([`${rule}@3`])
  await fixture.superuser.query({
    text: `delete from audit.${table}; insert into audit.${table} table kept; drop table kept`,
  })
})

test('T12 what was rewritten with valid hashes does not have the sealed root', async () => {
  await rewriteSuffix(fixture, { chain: 0, from: 2 })
  expect((await scrub()).findings.map(({ rule }) => rule)).toEqual(['SEAL_ROOT'])
})
