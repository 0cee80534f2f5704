// Servers and processes that the recovery measurements break: nobody else's, and gone afterwards.
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { eventually, openLink, sendToRedis, startOwnPostgres, startOwnRedis } from '@baton/testkit'
import type { Link, OwnPostgres, ServiceName, ServiceProcess } from '@baton/testkit'
import { openWorld } from '../fault/outage-world.ts'
import type { World } from '../fault/outage-world.ts'

export interface RecoveryWorld extends World {
  readonly postgres: OwnPostgres
  readonly redisUrl: string
  /** Between the services and Redis. */
  readonly link: Link
  start(name: ServiceName, env?: Readonly<Record<string, string>>): Promise<ServiceProcess>
  rows<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** Waits until a count is reached. */
  reaches(what: string, text: string, count: number): Promise<void>
  /** Forgets every handoff, here and in Redis; no receiver may be running. */
  forgetAll(): Promise<void>
}

const REACHES_MAX_MS = 180_000

/** Runs `work` in a world of its own, which is stopped and deleted afterwards, whatever happens. */
export async function inRecoveryWorld<Result>(
  work: (world: RecoveryWorld) => Promise<Result>,
): Promise<Result> {
  const postgres = await startOwnPostgres()
  const redis = await startedRedis()
  const link = await openLink(redis.url)
  const adminUrl = postgres.superuserUrl
  const env = { BATON_LOG_LEVEL: 'warn' }
  const world = await openWorld({ purpose: 'recovery', adminUrl, redisUrl: link.url, env })
  const { pool, system } = world
  const rows: RecoveryWorld['rows'] = async <Row extends object>(text: string, values = []) =>
    (await pool.query<Row & Record<string, unknown>>({ text, values })).rows
  async function close(): Promise<void> {
    link.heal()
    await world.close()
    await link.close()
    await redis.stop()
    await postgres.stop()
  }
  const interrupt = () => void close().finally(() => process.exit(130))
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    await system.start('auditor')
    return await work({
      ...world,
      postgres,
      redisUrl: redis.url,
      link,
      rows,
      start: (name, extra) => system.start(name, extra),
      reaches: (what, text, count) => reaches({ pool, what, text }, count),
      async forgetAll() {
        await rows(
          'truncate task, checkpoint, handoff, handoff_body, outbox, retry, execution, audit_outbox, queue_watermark cascade',
        )
        await sendToRedis(redis.url, [['FLUSHALL']])
      },
    })
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
    await close()
  }
}

async function startedRedis() {
  const redis = await startOwnRedis()
  if ('unavailable' in redis) throw new Error(`no Redis: ${redis.unavailable}`)
  return redis
}

interface Count {
  readonly pool: Pool
  readonly what: string
  readonly text: string
}

async function reaches({ pool, what, text }: Count, count: number): Promise<void> {
  let seen = -1
  const read = async () => {
    const { rows } = await pool.query<{ count: number }>({ text }).catch(() => ({ rows: [] }))
    seen = rows[0]?.count ?? -1
    return seen >= count
  }
  await eventually(read, {
    deadlineMs: REACHES_MAX_MS,
    describe: () => `${what}: ${seen} of ${count}`,
  })
}

/** A pool that tells how long each statement of one name took, also inside transactions. */
export function openTimedPool(
  url: string,
  { statement, tookMs }: { readonly statement: string; readonly tookMs: number[] },
): Pool {
  const pool = createPool({ url, applicationName: 'baton-relay', connectionsMax: 4 })
  const connect = pool.connect.bind(pool)
  const timed = async () => {
    const client = await connect()
    if (Object.hasOwn(client, 'query')) return client
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>
    // The pool's own queries come with a callback and are passed on as they are.
    const measured = async (...given: unknown[]) => {
      const startedAt = performance.now()
      const answer = await query(...given)
      if ((given[0] as { name?: string }).name === statement) {
        tookMs.push(performance.now() - startedAt)
      }
      return answer
    }
    return Object.assign(client, { query: measured })
  }
  return { query: pool.query.bind(pool), connect: timed, end: pool.end.bind(pool) }
}
