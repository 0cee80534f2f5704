// Handoffs of protocol v0.1 in Postgres: one row each, for more agents than share a folder.
import { isUuid } from '@baton/protocol'
import { importedHandoffId, readHandoff } from '@baton/protocol/dialects/handoff-v01'
import { connectTo, listen } from '@baton/postgres'
import type { Pool } from '@baton/postgres'
import { versionOf } from './storage.ts'
import type { Entry, OfferStorage } from './storage.ts'

export interface PostgresOffers {
  readonly storage: OfferStorage
  close(): Promise<void>
}

const { createPool, run } = connectTo({
  name: 'the operational database',
  refusedCode: 'BATON_DATABASE_REFUSED',
  unavailableCode: 'BATON_DATABASE_UNAVAILABLE',
  unavailableFix: 'Check HANDOFF_DATABASE_URL and that Postgres is up; repeating the step is safe.',
  connectionsMax: 2,
})

/** Keeps handoffs in the table `offer` of the operational database, which `baton migrate` makes. Connects when it is first used. */
export function openPostgres(url: string): PostgresOffers {
  const pool = createPool({ url, applicationName: 'baton-offers' })
  return { storage: storageOn(pool, url), close: () => pool.end() }
}

interface Row {
  readonly id: Buffer
  readonly body: Buffer
}

const LOAD = 'select task_id as id, body from offer where task_id = $1'

const INSERT = `
insert into offer (task_id, status, handoff_id, body) values ($1, $2, $3, $4)
on conflict do nothing
returning task_id as id`

// The row is locked before it is compared, so that of two that expect the same bytes one finds others.
const UPDATE = `
update offer set status = $2, handoff_id = $3, body = $4, updated_at = clock_timestamp()
where task_id = $1 and sha256(body) = $5
returning task_id as id`

const PAGE = 100
const LIST = `select task_id as id, body from offer where task_id > $1 order by task_id limit ${PAGE}`
const NOTIFY = "select pg_notify('baton_offer', '')"

function storageOn(pool: Pool, url: string): OfferStorage {
  return {
    async load(taskId) {
      const [row] = await run<Row>(pool, 'load_offer', LOAD, [keyOf(taskId)])
      return row === undefined ? undefined : { bytes: row.body, version: versionOf(row.body) }
    },
    async save(taskId, text, expected) {
      const row = [keyOf(taskId), ...columnsOf(text), Buffer.from(text)]
      const saved =
        expected === undefined
          ? await run<Row>(pool, 'insert_offer', INSERT, row)
          : await run<Row>(pool, 'update_offer', UPDATE, [...row, Buffer.from(expected, 'hex')])
      if (saved.length === 0) return false
      await run(pool, 'notify_offer', NOTIFY)
      return true
    },
    listAll: () => listRows(pool),
    watch(changed) {
      const listener = listen({ url, channel: 'baton_offer', onWake: changed })
      return () => void listener.close()
    },
  }
}

const keyOf = (taskId: string): Buffer => Buffer.from(taskId)

// Its handoff in Baton stands beside it, because an erasure of the one takes the other along.
function columnsOf(text: string): readonly [string, string | null] {
  const read = readHandoff(text, 'lenient')
  if (!read.ok) return ['', null]
  const handoffId = importedHandoffId(read.handoff)
  return [read.handoff.status, handoffId !== undefined && isUuid(handoffId) ? handoffId : null]
}

async function* listRows(pool: Pool): AsyncIterable<Entry> {
  let after: Buffer = Buffer.alloc(0)
  for (;;) {
    const rows = await run<Row>(pool, 'list_offers', LIST, [after])
    for (const { id, body } of rows) yield entryOf(id, body)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.id
  }
}

const entryOf = (id: Buffer, body: Buffer): Entry => ({
  name: id.toString(),
  bytes: body,
  version: versionOf(body),
  isPlaceOf: (taskId) => id.equals(keyOf(taskId)),
})
