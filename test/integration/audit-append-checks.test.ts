// Whoever holds the writer's role only continues chains (M1): no head without records, no record beside a chain, no time that is
// not now. A head that is larger than its records is told, and the way back that infra/README.md prints ends it.
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { eventually } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

let fixture: AuditFixture
let sealing: Sealing
let auditor: RunningAuditor
let writer: Pool

const addRecord = () => auditor.client.append([entryOf({ taskId: taskOfShard(0, 1) })])

beforeAll(async () => {
  fixture = await createAuditFixture(1)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: sealing.publicKey })
  writer = createPool({ url: fixture.urls.writer, applicationName: 'test', connectionsMax: 1 })
  await addRecord()
})
afterAll(async () => {
  await writer?.end()
  await sealing?.close()
  await fixture?.close()
})

interface Call {
  /** How many chains are named, how often the one that is there. */
  readonly named: number
  /** By how much the head grows. */
  readonly growth: number
  /** Of each record, how far it stands behind the head. */
  readonly steps: readonly number[]
  /** Which record's hash the head gets. */
  readonly last: number
  readonly aheadSeconds: number
  readonly event: number
  readonly segments: number
}

const GOOD: Call = {
  named: 1,
  growth: 2,
  steps: [0, 1],
  last: 2,
  aheadSeconds: 0,
  event: 1,
  segments: 0,
}

const APPEND = `
  select audit.append(
    array_fill(h.chain, array[$1::int]), array_fill(h.size, array[$1::int]), array_fill(h.last_hash, array[$1::int]),
    array_fill(h.size + $2::bigint, array[$1::int]),
    array_fill(sha256('\\x00'::bytea || convert_to($4::text, 'UTF8')), array[$1::int]),
    array_fill(n.at + interval '2 us', array[$1::int]), 'forged', array_fill('s'::bytea, array[$1::int]),
    array(select h.chain from r), array(select h.size + step from r),
    array(select n.at + place * interval '1 us' from r),
    array(select id from r), array(select id from r), array(select $6::smallint from r), array(select 0::bigint from r),
    array(select body from r), array(select sha256('\\x00'::bytea || body) from r),
    array(select id from r), array(select body from r), array(select 0 from r),
    array_fill(h.chain, array[$7::int]), array_fill(h.size + 7, array[$7::int]), array_fill(0::smallint, array[$7::int]),
    array_fill(n.at, array[$7::int]), array_fill(gen_random_uuid(), array[$7::int]),
    array_fill('n'::bytea, array[$7::int]), array_fill('c'::bytea, array[$7::int])) as appended
  from audit.head h
    cross join (select clock_timestamp() + $5::float8 * interval '1 s' as at) n
  where h.chain = 0`
const RECORDS = `with r as materialized (
  select step, place, gen_random_uuid() as id, convert_to(place::text, 'UTF8') as body
  from unnest($3::int[]) with ordinality as o (step, place))`

async function appended(call: Call): Promise<boolean> {
  const { named, growth, steps, last, aheadSeconds, event, segments } = call
  const { rows } = await writer.query<{ appended: boolean }>({
    text: RECORDS + APPEND,
    values: [named, growth, [...steps], String(last), aheadSeconds, event, segments],
  })
  return rows[0]?.appended === true
}

test.each<[string, Partial<Call>]>([
  ['a record of no chain that is named', { named: 0, event: 37 }],
  ['a chain that is named twice', { named: 2 }],
  ['a head that moves without records', { steps: [] }],
  ['a head that moves further than its records', { growth: 9_000_000_000_000_000 }],
  ['a head that moves less far', { growth: 1 }],
  ['a gap between records', { steps: [0, 2] }],
  ['a gap before them', { steps: [1, 2] }],
  ['a place that is taken twice', { steps: [0, 0] }],
  ['a head that is not the last record', { last: 1 }],
  ['a time that is far ahead', { aheadSeconds: 3_600 }],
  ['a time before the last record', { aheadSeconds: -3_600 }],
  ['a segment of no record', { segments: 1 }],
])('M1 the writer role adds nothing with %s', async (_what, change) => {
  await expect(appended({ ...GOOD, ...change })).rejects.toMatchObject({ code: '23514' })
})

test('M1 a head larger than its records is told, and what the runbook prints puts it back', async () => {
  const guide = await readFile(new URL('../../infra/README.md', import.meta.url), 'utf8')
  const section = guide.split('### A head counts records that are not there')[1] ?? ''
  const wayBack = /```sql\n([^`]+)```/.exec(section)?.[1] ?? ''
  await fixture.superuser.query({
    text: `update audit.head set size = 9000000000000000, last_hash = sha256('x'),
      last_recorded_at = last_recorded_at + interval '1 us'`,
  })
  const damaged = await sealing.startSealer()
  await eventually(async () => damaged.output().includes('the head counts 9000000000000000'), {
    deadlineMs: 20_000,
    describe: () => damaged.output().slice(-2_000),
  })
  await damaged.stop()
  await fixture.superuser.query({ text: wayBack })
  await sealing.startSealer()
  await addRecord()
  await sealing.sealed()
  expect((await sealing.verify()).findings).toEqual([])
})

test('and what continues the chain is taken', async () => {
  expect(await appended(GOOD)).toBe(true)
})
