// A bundle carries the proof that nothing is missing at the end of its tasks, and says so where the copy of the map is damaged.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readEvidence } from '@baton/audit'
import { parseAuditorPolicy, verifyBundle, writeBundle } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, privateKey, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

let fixture: AuditFixture
let auditor: RunningAuditor
let sealing: Sealing
let policyText: string

const EVIDENCE = { authorization: 'Bearer evidence-token-14e10d570047667f904261' }
const TABLES = ['record', 'idem', 'task_map']
/** Each export adds a record to its task, so every test that exports has one of its own. */
const tasks = Array.from({ length: 60 }, (_, at) => taskOfShard(at % 2, 2))
const [cut = '', first = '', second = '', damaged = '', older = ''] = tasks

const sql = (text: string) => fixture.superuser.query({ text })
const kept = (schema: string, from: string, table: string) =>
  `delete from ${schema}.${table}; insert into ${schema}.${table} table ${from}.${table}`

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
    BATON_EVIDENCE_SIGNING_KEY: privateKey(),
    BATON_EVIDENCE_WAIT_MS: '100',
  })
  const sealer = await sealing.startSealer()
  const handoffs = tasks.map((taskId) => ({ taskId, handoffId: randomUUID() }))
  await auditor.client.append(handoffs.map((of) => entryOf({ ...of, event: 'HANDOFF_ACCEPTED' })))
  await auditor.client.append(
    handoffs.map((of) => entryOf({ ...of, event: 'EXECUTION_COMPLETED', segments: [] })),
  )
  policyText = await (await fetch(`${auditor.url}/v1/policy`, { headers: EVIDENCE })).text()
  await eventually(async () => (await report([cut]))?.end?.later.length === 0, {
    deadlineMs: 30_000,
    describe: () => sealer.output(),
  })
  await sealer.stop()
  await fixture.guards.lift(TABLES)
  await sql('create schema untouched')
  for (const table of TABLES) await sql(`create table untouched.${table} as table audit.${table}`)
}, 60_000)
afterEach(async () => {
  for (const table of TABLES) await sql(kept('audit', 'untouched', table))
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

function verify(bundle: Uint8Array, text = policyText) {
  const parsed = parseAuditorPolicy(Buffer.from(text))
  if (!parsed.ok) throw new Error(parsed.message)
  return verifyBundle(bundle, { policy: parsed.policy, now: Date.now() / 1_000, thorough: true })
}

/** As an export makes it, without the record of an export. */
const read = (taskIds: readonly string[]) =>
  readEvidence({
    reader: fixture.reader,
    taskIds,
    receipts: [],
    cold: undefined,
    vault: undefined,
    policy: null,
  })

const WITHOUT_EXPORTER = /^# baton-key exporter.*\n/m

/** What an outsider says of these tasks who knows no exporter. */
async function report(taskIds: readonly string[]) {
  const evidence = await read(taskIds)
  return evidence && verify(writeBundle(evidence.parts), policyText.replace(WITHOUT_EXPORTER, ''))
}

const exported = async (taskIds: readonly string[]) => {
  const response = await fetch(`${auditor.url}/v1/evidence`, {
    method: 'POST',
    headers: { ...EVIDENCE, 'content-type': 'application/json' },
    body: JSON.stringify({ taskIds }),
  })
  expect(response.status).toBe(200)
  const bundle = verify(new Uint8Array(await response.arrayBuffer()))
  return { bundle, finding: response.headers.get('baton-finding') }
}

describe('the end of a task in a bundle', () => {
  test('is proven without an exporter, for each of several tasks and for one that is not there', async () => {
    const one = await report([cut])
    expect([one?.verdict, one?.end?.absent]).toEqual(['valid', []])
    const unknown = randomUUID()
    const { bundle, finding } = await exported([first, second, unknown])
    expect(bundle).toMatchObject({ verdict: 'valid', records: 4, notExcluded: expect.any(Array) })
    expect([bundle.end?.absent, bundle.end?.later, finding]).toEqual([[unknown], [], null])
  })

  test('adds a few kilobytes to the first task, and less to the next', async () => {
    const bytesOf = async (taskIds: readonly string[]) => {
      const parts = (await read(taskIds))?.parts
      if (parts === undefined) throw new Error('the tasks are there')
      const { length } = writeBundle(parts)
      return length - writeBundle({ ...parts, ends: null }).length
    }
    expect(await bytesOf([cut])).toBeLessThan(3_072)
    expect((await bytesOf(tasks)) / tasks.length).toBeLessThan(512)
  })

  test('is missed where records were cut off in the database, with every hash in order', async () => {
    await sql(`delete from audit.record r using audit.idem i
      where i.task_id = '${cut}' and i.task_seq >= 1 and r.chain = i.chain and r.seq = i.seq;
      delete from audit.idem where task_id = '${cut}' and task_seq >= 1`)
    const found = await report([cut])
    expect([found?.verdict, found?.end]).toEqual(['tampered', null])
    const messages = found?.checks.flatMap(({ id, findings }) =>
      id === 'TASK_COMPLETE' ? findings.map(({ message }) => message) : [],
    )
    expect(messages).toEqual([
      expect.stringMatching(/: 1 of the 2 records that it had at .* is missing$/),
    ])
  })

  test('of a task that was removed as a whole is missed among others', async () => {
    await sql(`delete from audit.record r using audit.idem i
      where i.task_id = '${cut}' and r.chain = i.chain and r.seq = i.seq;
      delete from audit.idem where task_id = '${cut}'`)
    expect((await report([cut, second]))?.verdict).toBe('tampered')
  })

  test('of what came later says so, and calls nothing missing', async () => {
    await exported([older])
    const found = await report([older])
    // The record of the export is not sealed: no sealer runs.
    expect(found?.verdict).toBe('incomplete')
    expect(found?.end?.later).toEqual([expect.objectContaining({ recordedAt: expect.any(String) })])
  })
})

test.each([
  ['emptied', 'delete from audit.task_map'],
  ['altered', "update audit.task_map set node = node || decode('00', 'hex')"],
])(
  'a map that was %s is a finding that names its rule; the bundle is whole without it',
  async (_, attack) => {
    await sql(attack)
    expect((await read([damaged]))?.findings).toEqual([
      {
        origin: 'the map of tasks',
        seq: null,
        rule: 'TASK_MAP',
        message:
          'the node "" is not the one that was signed, so it cannot be said whether records are missing at the end',
      },
    ])
    const { bundle, finding } = await exported([damaged])
    expect(finding).toMatch(
      /^TASK_MAP: the map of tasks: the node "" is not the one that was signed/,
    )
    expect(bundle.end).toBeNull()
    expect(bundle.checks.filter(({ result }) => result === 'failed')).toEqual([])
  },
)
