// The course of a game day: calm, broken, mended; how long each alert took to fire and to go.
import type { GameDay, Scene } from './game-day.ts'
import type { Judge } from './prometheus.ts'

export interface AlertTimes {
  readonly alert: string
  /** Seconds from the break; null where it did not fire. */
  readonly firedAfterSeconds: number | null
  /** Seconds from the mending; null where it did not go, and where it never came. */
  readonly goneAfterSeconds: number | null
}

export interface DayResult {
  readonly day: string
  /** `not judged` where there is no Prometheus. */
  readonly verdict: 'passed' | 'failed' | 'not judged'
  readonly alerts: readonly AlertTimes[]
  /** Fired although the day does not name them. */
  readonly others: readonly string[]
  readonly metric: {
    readonly name: string
    readonly before: number | null
    /** The one furthest from before, while it was broken. */
    readonly during: number | null
    readonly after: number | null
  }
}

export interface Course {
  readonly scene: Scene
  /** Absent where there is no Prometheus: then the metric alone is shown. */
  readonly judge: Judge | undefined
  readonly readMetric: () => Promise<number | null>
  readonly tell: (phase: string, words: string) => void
  /** Throws BATON_INTERRUPTED once somebody interrupts. */
  readonly pause: (ms: number) => Promise<void>
}

export interface Limits {
  readonly calmMs: number
  /** How long it stays as it is before it is broken, and broken where nobody judges. */
  readonly holdMs: number
  readonly fireMs: number
  readonly goneMs: number
  readonly pollMs: number
}

const LIMITS: Limits = {
  calmMs: 60_000,
  holdMs: 8_000,
  fireMs: 240_000,
  goneMs: 300_000,
  pollMs: 500,
}

/** Throws what breaking or mending throws; whoever calls stops everything. */
export async function runDay(day: GameDay, course: Course, limits = LIMITS): Promise<DayResult> {
  const { scene, judge, tell } = course
  await course.pause(limits.holdMs)
  await day.prepare?.(scene)
  const calm = await watch(course, {
    limits,
    limitMs: limits.calmMs,
    until: (firing) => day.alerts.every((alert) => !firing.has(alert)),
    judge,
  })
  const before = await course.readMetric()
  tell('calm', `${day.watched.metric} is ${figure(before)}`)
  await day.breakIt(scene)
  tell('broken', day.breaks)
  const fired = await watch(course, {
    limits,
    onFirst: (alert, seconds) => tell('fires', `${alert}, after ${seconds} s`),
    limitMs: judge === undefined ? limits.holdMs : limits.fireMs,
    until: (_, seen) => day.alerts.every((alert) => seen.has(alert)),
    judge,
  })
  const during = furthest(fired.values, before)
  sayFired(day, { fired, during, course })
  for (const words of day.mend.says) tell('mending', words)
  await day.mend.run(scene)
  const gone = await watch(course, {
    limits,
    limitMs: judge === undefined ? limits.holdMs : limits.goneMs,
    until: (firing) => day.alerts.every((alert) => !firing.has(alert)),
    judge,
  })
  const after = await course.readMetric()
  const alerts = day.alerts.map((alert) => ({
    alert,
    firedAfterSeconds: calm.last.has(alert) ? null : (fired.first.get(alert) ?? null),
    goneAfterSeconds:
      gone.last.has(alert) || !fired.first.has(alert) ? null : (gone.lastSeen.get(alert) ?? 0),
  }))
  return {
    day: day.name,
    verdict: judge === undefined ? 'not judged' : verdictOf(alerts),
    alerts: judge === undefined ? [] : alerts,
    others: [...fired.first.keys()].filter((name) => !day.alerts.includes(name)),
    metric: { name: day.watched.metric, before, during, after },
  }
}

const verdictOf = (alerts: readonly AlertTimes[]) =>
  alerts.every(
    ({ firedAfterSeconds, goneAfterSeconds }) =>
      firedAfterSeconds !== null && goneAfterSeconds !== null,
  )
    ? ('passed' as const)
    : ('failed' as const)

interface Seen {
  /** What fired at the end. */
  readonly last: ReadonlySet<string>
  /** When each was seen first, in seconds from the beginning. */
  readonly first: ReadonlyMap<string, number>
  /** When each was seen last. */
  readonly lastSeen: ReadonlyMap<string, number>
  readonly values: readonly number[]
}

interface Watching {
  readonly limits: Limits
  readonly limitMs: number
  readonly until: (firing: ReadonlySet<string>, seen: ReadonlySet<string>) => boolean
  readonly judge: Judge | undefined
  readonly onFirst?: (alert: string, seconds: number) => void
}

/** Looks until the condition holds or the time is up. Without a judge it only reads the metric, all the time. */
async function watch(course: Course, watching: Watching): Promise<Seen> {
  const { limits, limitMs, until, judge } = watching
  const startedAt = performance.now()
  const first = new Map<string, number>()
  const lastSeen = new Map<string, number>()
  const values: number[] = []
  for (;;) {
    const firing = (await judge?.firing()) ?? new Set<string>()
    const waitedMs = performance.now() - startedAt
    const seconds = Math.round(waitedMs / 100) / 10
    for (const name of firing) {
      if (!first.has(name)) {
        first.set(name, seconds)
        watching.onFirst?.(name, seconds)
      }
      lastSeen.set(name, seconds)
    }
    const value = await course.readMetric()
    if (value !== null) values.push(value)
    const isDone = judge !== undefined && until(firing, new Set(first.keys()))
    if (isDone || waitedMs > limitMs) return { last: firing, first, lastSeen, values }
    await course.pause(limits.pollMs)
  }
}

const furthest = (values: readonly number[], from: number | null): number | null =>
  values.reduce<number | null>(
    (far, value) =>
      far === null || Math.abs(value - (from ?? 0)) > Math.abs(far - (from ?? 0)) ? value : far,
    null,
  )

interface Fired {
  readonly fired: Seen
  readonly during: number | null
  readonly course: Course
}

function sayFired(day: GameDay, { fired, during, course: { judge, tell } }: Fired): void {
  const missing = day.alerts.filter((alert) => !fired.first.has(alert))
  if (missing.length > 0 && judge !== undefined)
    tell('fires not', `${missing.join(', ')}: it did not come in time`)
  tell('metric', `${day.watched.metric} went to ${figure(during)}`)
}

/** A number as people read it, or that there is none. */
export const figure = (value: number | null): string =>
  value === null ? 'not shown' : String(Number(value.toPrecision(3)))
