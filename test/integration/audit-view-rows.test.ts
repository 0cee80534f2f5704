// Rows that the views show are held against proven records: column by column, and none missing.
import { randomUUID } from 'node:crypto'
import { checkRows, readTrace, unknownColumns, viewOf } from '@baton/audit'
import type { ShownRow, ViewName } from '@baton/audit'
import type { AuditEntry } from '@baton/ledger'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signedAct } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture } from './audit-fixture.ts'

let fixture: AuditFixture
const taskId = randomUUID()
const [accepted, rejected, released] = [randomUUID(), randomUUID(), randomUUID()]
const [blocked, refused] = [randomUUID(), randomUUID()]
const release = randomUUID()

beforeAll(async () => {
  fixture = await createAuditFixture(1)
  const { client } = await fixture.startAuditor()
  const of = (handoffId: string, changes: Partial<AuditEntry> = {}) =>
    entryOf({ taskId, handoffId, ...changes })
  const person = (actor: string): Partial<AuditEntry> => ({
    event: 'RELEASE_APPROVED',
    act: signedAct({ event: 'RELEASE_APPROVED', taskId, handoffId: released }, actor),
    release,
    verdicts: null,
    segments: [],
  })
  const asked: Partial<AuditEntry> = { event: 'SENDER_ASKED', verdicts: null, segments: [] }
  const atTheDoor = (reason: string): Partial<AuditEntry> => ({
    event: 'SEND_REFUSED',
    act: { id: randomUUID(), actor: 'ann' },
    reason,
    times: 1,
    epoch: 0,
    verdicts: null,
    cost: null,
    segments: [],
  })
  const ended = {
    event: 'EXECUTION_COMPLETED',
    segments: [],
    toAgent: { agentType: 'legal-analysis', agentVersion: '1.2.3' },
  } as const
  for (const entry of [
    of(accepted),
    of(accepted, ended),
    of(rejected, {
      event: 'HANDOFF_REJECTED',
      reason: 'SCHEMA_INVALID',
      parentHandoffId: accepted,
    }),
    of(released, { event: 'HANDOFF_REJECTED', reason: 'SAFETY_VIOLATION' }),
    of(released, { ...asked, act: { id: randomUUID(), actor: 'eve {of "legal"}' } }),
    of(released, person('bob')),
    of(released, { event: 'HANDOFF_RELEASED', release, verdicts: null, segments: [] }),
    of(released, { release, epoch: 2 }),
    of(released, { ...ended, epoch: 2 }),
    of(blocked, { event: 'HANDOFF_BLOCKED', reason: 'BLOCKED' }),
    of(refused, atTheDoor('SCHEMA_INVALID')),
    // What was refused once was sent again, and decided: the decision counts, also where a refusal comes later.
    of(rejected, atTheDoor('SIGNATURE_INVALID')),
  ])
    await client.append([entry])
})
afterAll(() => fixture?.close())

type Rows = readonly (readonly [number, ShownRow])[]
const ask = (view: ViewName) =>
  `SELECT * FROM ${view} WHERE taskId = '${taskId}' ORDER BY timestamp`
const numbered = (rows: readonly ShownRow[]): Rows => rows.map((row, at) => [at + 1, row])

/** As `psql --csv` writes them: texts, and empty ones where there is nothing. */
async function asTexts(view: ViewName): Promise<Rows> {
  const types = { getTypeParser: () => (text: string) => text }
  const { rows } = await fixture.reader.query<Record<string, string | null>>({
    text: ask(view),
    types: types as never,
  })
  return numbered(
    rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, is]) => [name, is ?? ''])),
    ),
  )
}

/** As Postgres writes rows as JSON. */
async function asJson(view: ViewName): Promise<Rows> {
  const { rows } = await fixture.reader.query<{ row: ShownRow }>({
    text: `select to_jsonb(v) as row from (${ask(view)}) v`,
  })
  return numbered(rows.map(({ row }) => row))
}

const check = async (view: ViewName, rows: Rows) =>
  checkRows(view, rows, await readTrace(fixture.reader, taskId))

test('X10 every decision has its row, a refusal at the door where nobody decided', async () => {
  const { rows } = await fixture.reader.query<{ handoffid: string; said: string }>({
    text: `select handoffid, concat_ws(' ', status, reason) as said from handoff_audit where taskid = '${taskId}'`,
  })
  expect(Object.fromEntries(rows.map(({ handoffid, said }) => [handoffid, said]))).toEqual({
    [accepted]: 'ACCEPTED',
    [rejected]: 'REJECTED SCHEMA_INVALID',
    [released]: 'ACCEPTED',
    [blocked]: 'BLOCKED BLOCKED',
    [refused]: 'REJECTED SCHEMA_INVALID',
  })
})

describe.each([
  ['handoff_audit', 5],
  ['handoff_events', 12],
] as const)('%s', (view, count) => {
  test.each([
    ['texts', asTexts],
    ['JSON', asJson],
  ])('untouched rows as %s say what was recorded, in every column', async (_, read) => {
    const rows = await read(view)
    const columns = Object.keys(rows[0]?.[1] ?? {})
    expect(viewOf(columns)).toBe(view)
    expect(unknownColumns(view, columns)).toEqual([])
    expect(rows).toHaveLength(count)
    const { records, findings } = await check(view, rows)
    expect(findings).toEqual([])
    expect(records).toHaveLength(count)
  })

  test('each column that says something else is named', async () => {
    const rows = await asTexts(view)
    for (const column of Object.keys(rows[0]?.[1] ?? {})) {
      const lying = rows.map(([row, shown], at) =>
        at === 0 ? ([row, { ...shown, [column]: '7' }] as const) : ([row, shown] as const),
      )
      const { findings } = await check(view, lying)
      expect(findings.map(({ message }) => message)).toEqual([
        expect.stringMatching(new RegExp(`^${column} says .*, record \\d says `)),
      ])
    }
  })

  test('a row that is missing, one that is there twice and one of no record are found', async () => {
    const rows = await asTexts(view)
    const [first, second] = rows as [Rows[number], Rows[number]]
    const { findings } = await check(view, [
      ...rows.slice(1),
      [count, second[1]],
      [
        count + 1,
        { ...first[1], handoffid: randomUUID(), recordhash: 'ab', recordid: '', seq: '99' },
      ],
    ])
    expect(findings).toEqual([
      expect.objectContaining({ row: count, message: 'no record of the log is behind this row' }),
      expect.objectContaining({
        row: count + 1,
        message: 'no record of the log is behind this row',
      }),
      expect.objectContaining({
        row: null,
        message: expect.stringMatching(/^the row of record \d .* is missing$/),
      }),
    ])
  })
})

test('a view that shows a rejection as accepted and hides a handoff does not get by', async () => {
  const { rows } = await fixture.superuser.query<{ text: string }>({
    text: `select pg_get_viewdef('audit.handoff_audit'::regclass) as text`,
  })
  const text = (rows[0]?.text ?? '').replace('REJECTED', 'ACCEPTED').replace(/;$/, '')
  const lying = `select v.* from (${text}) v where v.handoffid <> '${released}'`
  await fixture.superuser.query({ text: `create or replace view audit.handoff_audit as ${lying}` })
  const { findings } = await check('handoff_audit', await asTexts('handoff_audit'))
  expect(findings).toEqual([
    { row: 2, handoffId: rejected, message: 'status says "ACCEPTED", record 2 says "REJECTED"' },
    { row: 4, handoffId: refused, message: 'status says "ACCEPTED", record 11 says "REJECTED"' },
    {
      row: null,
      handoffId: released,
      message: 'the row of record 8 (HANDOFF_ACCEPTED) is missing',
    },
  ])
})

test('rows of no view, or not whole, are of none', () => {
  expect(viewOf(['taskid', 'status'])).toBeUndefined()
  expect(viewOf(['taskid', 'handoffid', 'recordhash'])).toBeUndefined()
  expect(unknownColumns('handoff_events', ['taskid', 'mood'])).toEqual(['mood'])
})
