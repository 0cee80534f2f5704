// The log lines of a process on their way to OpenTelemetry: never waited for, bounded in number, and counted where one is lost.
import type { Counter } from './instrument.ts'

export interface LogLines {
  /** Takes a line as it was written. Never waits: above the bound the line is dropped and counted. */
  write(line: string): void
  /** Hands on what was written before, and from now on each line. */
  start(take: (line: string) => void): void
  /** So many lines have left, or are lost. */
  left(count: number, outcome: 'sent' | 'lost'): void
}

/** At most `waitingMax` lines wait to be sent, those included that are written before anybody takes them. */
export function createLogLines(waitingMax: number, dropped: Counter): LogLines {
  const early: string[] = []
  let take = (line: string): void => void early.push(line)
  let waiting = 0
  return {
    write(line) {
      if (waiting >= waitingMax) return dropped.inc()
      waiting += 1
      take(line)
    },
    start(next) {
      take = next
      for (const line of early.splice(0)) next(line)
    },
    left(count, outcome) {
      waiting -= count
      if (outcome === 'lost') dropped.inc(count)
    },
  }
}
