// What each event of a topology run meant for those who send and for the work: pauses, latencies, and what became of what was confirmed.
import { aligned, spreadOf } from './report.ts'
import type { Confirmed } from './topology-load.ts'

export interface Happened {
  readonly name: string
  readonly atMs: number
}

/** Of the log of the agents: the first start of each handoff. */
export type Starts = ReadonlyMap<string, number>

export interface EventReport {
  readonly event: string
  readonly seconds: number
  readonly acknowledged: number
  readonly lost: number
  /** Longest time in which no send was confirmed, and in which nothing began to execute. */
  readonly sendPauseSeconds: number
  readonly workPauseSeconds: number
  /** From a send to its confirmation, and from there to its execution. */
  readonly sendP99Ms: number
  readonly startP99Ms: number
}

interface Seen {
  readonly events: readonly Happened[]
  readonly endedAtMs: number
  readonly confirmed: readonly Confirmed[]
  readonly starts: Starts
  /** Handoffs that were completed. */
  readonly completed: ReadonlySet<string>
}

/** One row for each event, which lasts until the next one. */
export function reportEvents({
  events,
  endedAtMs,
  confirmed,
  starts,
  completed,
}: Seen): EventReport[] {
  return events.map(({ name, atMs }, index) => {
    const untilMs = events[index + 1]?.atMs ?? endedAtMs
    const isWithin = (ms: number) => ms >= atMs && ms < untilMs
    const begun = confirmed.filter(({ begunAtMs }) => isWithin(begunAtMs))
    const pauses = (times: readonly number[]) =>
      longestPauseMs([atMs, ...times.filter(isWithin), untilMs]) / 1_000
    return {
      event: name,
      seconds: Math.round((untilMs - atMs) / 1_000),
      acknowledged: begun.length,
      lost: begun.filter(({ handoffId }) => !completed.has(handoffId)).length,
      sendPauseSeconds: pauses(confirmed.map(({ confirmedAtMs }) => confirmedAtMs)),
      workPauseSeconds: pauses([...starts.values()]),
      sendP99Ms: spreadOf(begun.map((one) => one.confirmedAtMs - one.begunAtMs)).p99,
      startP99Ms: spreadOf(
        begun.flatMap(({ handoffId, confirmedAtMs }) => {
          const startedAtMs = starts.get(handoffId)
          return startedAtMs === undefined ? [] : [Math.max(0, startedAtMs - confirmedAtMs)]
        }),
      ).p99,
    }
  })
}

function longestPauseMs(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.reduce((longest, at, index) => Math.max(longest, at - (sorted[index - 1] ?? at)), 0)
}

const seconds = (value: number): string => value.toFixed(1)

export const eventTable = (rows: readonly EventReport[]): string =>
  aligned(
    [
      'what happened',
      's',
      'confirmed',
      'lost',
      'no send for s',
      'no start for s',
      'send p99 ms',
      'start p99 ms',
    ],
    rows.map((row) => [
      row.event,
      String(row.seconds),
      String(row.acknowledged),
      String(row.lost),
      seconds(row.sendPauseSeconds),
      seconds(row.workPauseSeconds),
      String(Math.round(row.sendP99Ms)),
      String(Math.round(row.startP99Ms)),
    ]),
  )
