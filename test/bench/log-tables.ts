// The tables of a log around a bulk load: days in the past before it, indexes and heads after it.
import type { Pool } from '@baton/audit'
import { formatInstant } from '@baton/ledger'

const DAY_MS = 86_400_000

const dayOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Makes partitions from `firstDay` (days since 1970) on, and takes indexes away for the load. */
export async function prepareTables(pool: Pool, firstDay: number, days: number): Promise<void> {
  for (let day = firstDay; day < firstDay + days; day += 1) {
    const name = dayOf(day).replaceAll('-', '')
    for (const parent of ['record', 'payload']) {
      await pool.query({
        text: `do $$ begin if to_regclass('audit.${parent}_${name}') is null then
          set local role audit_owner;
          create table audit.${parent}_${name} partition of audit.${parent}
            for values from ('${dayOf(day)} 00:00:00+00') to ('${dayOf(day + 1)} 00:00:00+00');
        end if; end $$`,
      })
    }
  }
  await pool.query({ text: 'drop index audit.record_task, audit.record_handoff' })
  await pool.query({
    text: `alter table audit.idem drop constraint idem_pkey,
      drop constraint idem_task_id_task_seq_key`,
  })
}

interface LoadedChain {
  readonly chain: number
  readonly size: number
  readonly lastHash: Uint8Array
  readonly lastMicros: number
}

/** Makes the indexes again, and moves the heads to what was loaded. */
export async function finishTables(pool: Pool, chains: readonly LoadedChain[]): Promise<void> {
  const statements = [
    'create index record_task on audit.record (task_id, seq)',
    'create index record_handoff on audit.record (handoff_id)',
    'alter table audit.idem add primary key (key), add unique (task_id, task_seq)',
    'analyze audit.record',
    'analyze audit.idem',
  ]
  for (const text of statements) await pool.query({ text })
  for (const { chain, size, lastHash, lastMicros } of chains) {
    await pool.query({
      text: 'update audit.head set size = $2, last_hash = $3, last_recorded_at = $4 where chain = $1',
      values: [chain, size, Buffer.from(lastHash), formatInstant(lastMicros)],
    })
  }
}

/** What a drop does, without the days of waiting for it: the records are in the cold store. */
export async function dropDays(pool: Pool, firstDay: number, days: number): Promise<void> {
  for (let day = firstDay; day < firstDay + days; day += 1) {
    const name = dayOf(day).replaceAll('-', '')
    await pool.query({ text: `drop table audit.record_${name}, audit.payload_${name}` })
  }
}
