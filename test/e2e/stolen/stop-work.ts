// Thieves who stand in everybody's way: with all the locks, or all the connections, that a role can get.
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { eventually } from '@baton/testkit'
import { tell } from './attack-log.ts'
import { databaseOf, roleOf } from './loot.ts'
import type { Loot } from './loot.ts'
import { POSSIBLE, refused, statement } from './outcome.ts'
import type { WayOutcome } from './outcome.ts'
import type { Scene } from './scene.ts'

type Client = Awaited<ReturnType<Pool['connect']>>

const CONNECTIONS_TRIED = 120
/** Shorter than Baton's own sessions wait for a lock. */
const WAITED_MS = 500
const PROBE_MAX_MS = 180_000
/** The strongest, and what who may only add or read can take. */
const MODES = ['access exclusive', 'row exclusive', 'access share']
/** Whatever bounds a session of the role, the thief takes away. */
const UNBOUND = `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set transaction_timeout = 0; set idle_session_timeout = 0;
  set lock_timeout = '300ms'`

export interface Stopper {
  /** What others are kept from, by the role that does it. */
  stop(scene: Scene, loot: Loot): Promise<readonly WayOutcome[]>
}

/** Keeps all that a role can get while somebody else's work should be done. Asked once for each role, whoever holds it. */
export function createStopper(
  take: (pool: Pool, keep: (client: Client) => void) => Promise<void>,
): Stopper {
  const known = new Map<string, Promise<WayOutcome>>()

  async function stopAs(scene: Scene, url: string): Promise<WayOutcome> {
    const pool = createPool({ url, applicationName: 'thief', connectionsMax: CONNECTIONS_TRIED })
    const taken: Client[] = []
    try {
      const entered = await statement(() => pool.query({ text: 'select 1' }))
      if (entered !== undefined && 'refusedBy' in entered) return entered
      await take(pool, (client) => taken.push(client))
      return (await isWorkDone(scene)) ? refused('Postgres') : POSSIBLE
    } finally {
      for (const client of taken) client.release(true)
      await pool.end()
    }
  }

  return {
    async stop(scene, { databases }) {
      const outcomes: WayOutcome[] = []
      for (const url of databases) {
        const key = `${roleOf(url)} ${databaseOf(url)}`
        if (!known.has(key)) known.set(key, stopAs(scene, url))
        outcomes.push(await known.get(key))
      }
      return outcomes
    },
  }
}

/** Locks tables and the advisory locks that are known by name, as far as each is granted. */
export async function takeLocks(pool: Pool, keep: (client: Client) => void): Promise<void> {
  const client = await pool.connect()
  keep(client)
  await client.query(UNBOUND)
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('public', 'audit', 'vault') and c.relkind in ('r', 'p', 'v') order by 1`,
  )
  const wanted = [
    ...rows.flatMap(({ name }) => MODES.map((mode) => `lock table ${name} in ${mode} mode`)),
    ...['audit.erase', 'audit.extend_partitions'].map(
      (key) => `select pg_advisory_lock(hashtext('${key}'))`,
    ),
  ]
  await client.query('begin')
  for (const text of wanted) {
    await client.query('savepoint before')
    await client.query(text).catch(() => client.query('rollback to savepoint before'))
  }
}

/** Opens sessions until no more is let in, each in a transaction. */
export async function takeConnections(pool: Pool, keep: (client: Client) => void): Promise<void> {
  for (let taken = 0; taken < CONNECTIONS_TRIED; taken += 1) {
    const client = await pool.connect().catch(() => undefined)
    if (client === undefined) return
    keep(client)
    await client.query(`${UNBOUND}; begin`)
  }
}

/** Answers false where a process of the instance waits for what a thief has locked, or what is sent is never executed. */
async function isWorkDone(scene: Scene): Promise<boolean> {
  let isCompleted = false
  let isOver = false
  // What is refused while a thief is in, or is left of the thief before, is tried again: nobody works only once.
  const sending = eventually(
    async () => {
      if (isOver) return true
      const executed = scene.send().then(({ handoffId }) => scene.reaches(handoffId, ['COMPLETED']))
      await Promise.all([executed, tell(scene, 'of somebody')])
      isCompleted = true
      return true
    },
    { deadlineMs: PROBE_MAX_MS, describe: 'what is sent is executed' },
  ).catch(() => undefined)
  const { isDone } = await eventually(
    async () => {
      if (isCompleted) return { isDone: true }
      return (await isWaitedFor(scene)) ? { isDone: false } : undefined
    },
    { deadlineMs: PROBE_MAX_MS, describe: 'what is sent is executed, or waits for a thief' },
  )
  isOver = true
  if (isDone) await sending
  return isDone
}

async function isWaitedFor({ owner }: Scene): Promise<boolean> {
  const { rows } = await owner.operational.query({
    text: `select 1 from pg_locks l join pg_stat_activity w using (pid) join pg_stat_activity t on t.pid = any(pg_blocking_pids(l.pid))
      where not l.granted and l.waitstart < clock_timestamp() - interval '1 ms' * $1
        and t.application_name = 'thief' and w.application_name <> 'thief' limit 1`,
    values: [WAITED_MS],
  })
  return rows.length > 0
}
