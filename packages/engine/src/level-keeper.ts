// Keeps what the service levels are computed from bounded, and raises one alert for each pair of agents that stays slow.
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import {
  alertKey,
  closeAlert,
  forgetDays,
  listOpenSubjects,
  METRIC_ROWS_MAX,
  raiseAlert,
  rollUpHours,
  rollUpMinutes,
  sumByAge,
} from '@baton/store'
import type { Alert, Pool } from '@baton/store'
import { LATENCY_METRIC } from '@baton/telemetry'
import { judgePairs, PAIR_AGES_SECONDS } from './decide/slow-pairs.ts'
import type { Pair } from './decide/slow-pairs.ts'

interface LevelKeeperParts {
  readonly pool: Pool
  readonly logger: Logger
}

const KEEP_MS = 60_000
const ROUNDS_MAX = 20
const PAIR_ALERT = 'latency.pair'

/** Once a minute; any number may run. */
export function createLevelKeeper({ pool, logger }: LevelKeeperParts): Service {
  const failed = (step: string, error: unknown): void =>
    logger.warn({ event: 'sweep.failed', step, code: codeOf(error) })
  const step = (name: string, work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => failed(name, error))

  return every({
    name: 'level-keeper',
    everyMs: KEEP_MS,
    firstAfterMs: KEEP_MS,
    async run() {
      await step('level-minutes', () => inRounds(() => rollUpMinutes(pool)))
      await step('level-hours', () => inRounds(() => rollUpHours(pool)))
      await step('level-days', () => inRounds(() => forgetDays(pool)))
      await step('level-pairs', () => tellSlowPairs(pool))
    },
    failed: (error) => failed('levels', error),
  })
}

async function inRounds(round: () => Promise<number>): Promise<void> {
  for (let done = 0; done < ROUNDS_MAX; done += 1) {
    if ((await round()) < METRIC_ROWS_MAX) return
  }
}

/** So many pairs have an alert of their own; one more says how many others are slow, for senders can name agents without end. */
const PAIRS_MAX = 50
const MORE_KEY = alertKey(PAIR_ALERT, 'more')

/**
 * Raises an alert for each pair that has been slow for a quarter of an hour and has none open, and closes those of pairs
 * that are fast again or have no traffic any more.
 */
export async function tellSlowPairs(pool: Pool): Promise<void> {
  const judged = judgePairs(await sumByAge(pool, PAIR_AGES_SECONDS, LATENCY_METRIC))
  const open = await listOpenSubjects(pool, PAIR_ALERT)
  const lasting = new Set(judged.filter(({ isFast }) => !isFast).map(keyOf))
  const told = [...open.keys()].filter((key) => lasting.has(key))
  const untold = judged.filter((pair) => pair.isSlow && !open.has(keyOf(pair)))
  const own = untold.slice(0, Math.max(0, PAIRS_MAX - told.length))
  const more = untold.length - own.length
  if (more > 0) lasting.add(MORE_KEY)
  for (const key of open.keys()) {
    if (!lasting.has(key)) await closeAlert(pool, key)
  }
  for (const pair of own) await raise(pool, keyOf(pair), subjectOf(pair))
  const subject = { morePairs: String(more) }
  if (more > 0 && open.get(MORE_KEY)?.['morePairs'] !== subject.morePairs)
    await raise(pool, MORE_KEY, subject)
}

const subjectOf = ({ transport, fromAgent, toAgent }: Pair) => ({ transport, fromAgent, toAgent })

const keyOf = ({ transport, fromAgent, toAgent }: Pair): string =>
  alertKey(PAIR_ALERT, transport, fromAgent, toAgent)

async function raise(pool: Pool, key: string, subject: Alert['subject']): Promise<void> {
  await raiseAlert(pool, {
    key,
    kind: PAIR_ALERT,
    severity: 'ticket',
    reason: 'LATENCY_TARGET_MISSED',
    subject,
  })
}
