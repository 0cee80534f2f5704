// Seeds one after the other on one Postgres and one Redis, each with fresh databases.
import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPool } from '@baton/store'
import { sendToRedis, startOwnPostgres, startOwnRedis } from '@baton/testkit'
import { prepareTls } from './campaign-tls.ts'
import { describeViolation } from './check.ts'
import { reportOf } from './report.ts'
import type { Report } from './report.ts'
import { describePlan, planOf } from './schedule.ts'
import { runSeed } from './seed-run.ts'
import type { SeedResult } from './seed-run.ts'
import { SLOTS } from './world.ts'
import type { Servers } from './world.ts'

export interface CampaignOptions {
  readonly seeds: readonly number[]
  readonly seconds: number
  readonly ratePerSecond: number
  readonly knownBad?: string
  /** Every service runs in a container of this image. */
  readonly image?: string | undefined
  readonly knownBadDrainMaxMs?: number
  /** Begin no further seed once this has passed. */
  readonly untilMs?: number
  /** Stop at the first seed that breaks one of these invariants, as a known-bad build shall within three. */
  readonly untilBroken?: readonly string[]
  say(text: string): void
}

/** The servers of a campaign; `stop` ends them and deletes their data. */
export async function startServers({ onTls = false }: { readonly onTls?: boolean } = {}): Promise<
  Servers & { stop(): Promise<void> }
> {
  const tls = onTls ? await prepareTls(Object.keys(SLOTS)) : undefined
  const redis = await startOwnRedis(tls && { tls: tls.redis })
  if ('unavailable' in redis) throw new Error(`a campaign needs Redis: ${redis.unavailable}`)
  const postgres = await startOwnPostgres(tls && { tls: tls.postgres })
  const admin = createPool({
    url: postgres.superuserUrl,
    applicationName: 'chaos',
    connectionsMax: 1,
  })
  await admin.query({ text: 'alter system set track_commit_timestamp = on' })
  await admin.end()
  // Commit times are Postgres' own word for what came first; they need a restart.
  await postgres.pause()
  await postgres.restart()
  return {
    postgres,
    redis,
    tls,
    stop: async () => {
      await Promise.allSettled([postgres.stop(), redis.stop()])
      await tls?.end()
    },
  }
}

/** Runs every seed; whatever breaks, the next one runs too. */
export async function runCampaign(servers: Servers, options: CampaignOptions): Promise<Report> {
  const { seeds, seconds, knownBad, image, say, untilMs = Infinity } = options
  const startedAtMs = Date.now()
  const results: SeedResult[] = []
  for (const seed of seeds) {
    if (Date.now() > untilMs) {
      say('no time for another seed')
      break
    }
    const folder = folderOf(seed, knownBad)
    const plan = planOf(seed, seconds)
    say(`seed ${seed}: ${plan.faults.length} faults in ${seconds} s\n${describePlan(plan)}`)
    await sendToRedis(servers.redis.url, [['FLUSHALL']], servers.tls?.own)
    const result = await runSeed({ ...servers, ...options, plan, folder })
    results.push(result)
    tell(result, { folder, say })
    if (result.violations.some(({ id }) => options.untilBroken?.includes(id))) break
  }
  return reportOf({
    results,
    secondsPerSeed: seconds,
    startedAtMs,
    ...(knownBad === undefined ? {} : { knownBad }),
    ...(image === undefined ? {} : { image }),
  })
}

/** Of each invariant; the report has all of them. */
const SHOWN_MAX = 5

function tell(
  result: SeedResult,
  { folder, say }: { readonly folder: string; say(text: string): void },
): void {
  const { seed, violations, faults, surprises } = result
  for (const { kind, target, failure } of faults) {
    if (failure !== undefined) say(`  not made: ${kind} ${target}: ${failure}`)
  }
  for (const surprise of new Set(surprises)) say(`  ended by itself: ${surprise}`)
  for (const [id, ofOne] of Map.groupBy(violations, (violation) => violation.id)) {
    for (const violation of ofOne.slice(0, SHOWN_MAX)) say(`  ${describeViolation(violation)}`)
    if (ofOne.length > SHOWN_MAX) say(`  ${id}: ${ofOne.length - SHOWN_MAX} more`)
  }
  const { acknowledged, drainMs } = result
  const words = `${acknowledged} acknowledged, drained in ${(drainMs / 1_000).toFixed(1)} s`
  if (violations.length === 0) {
    rmSync(folder, { recursive: true, force: true })
    say(`seed ${seed}: everything held; ${words}`)
  } else say(`seed ${seed}: BROKEN; ${words}; histories, ledgers and logs: ${folder}`)
}

function folderOf(seed: number, knownBad: string | undefined): string {
  const name = knownBad === undefined ? `seed-${seed}` : `${knownBad}-${seed}`
  const folder = join(tmpdir(), `baton-chaos-${process.pid}`, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}
