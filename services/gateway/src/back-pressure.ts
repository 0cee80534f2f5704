// Says no early: a full outbox answers 429, too many requests at once answer 503 (I12).
import { ProblemError } from './problem.ts'

/** Throws 429 BATON_OUTBOX_FULL while the outbox has no room for a handoff of this priority. */
export function requireRoomIn(isFull: (priority: number) => Promise<boolean>) {
  return async (priority: number): Promise<void> => {
    if (await isFull(priority)) throw OUTBOX_FULL
  }
}

const OUTBOX_FULL = new ProblemError({
  status: 429,
  code: 'BATON_OUTBOX_FULL',
  detail: 'More handoffs wait for delivery than may, or wait too long',
  fix: 'Send again after the time in Retry-After; handoffs of priority 0 are always taken.',
  headers: { 'retry-after': '1' },
})

/** Runs `work` unless `runningMax` are under way already: then throws 503 BATON_OVERLOADED. */
export function createRunningBound(runningMax: number) {
  let running = 0
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= runningMax) throw OVERLOADED
    running += 1
    try {
      return await work()
    } finally {
      running -= 1
    }
  }
}

const OVERLOADED = new ProblemError({
  status: 503,
  code: 'BATON_OVERLOADED',
  detail: 'The gateway has as many requests under way as it takes',
  fix: 'Try again after the time in Retry-After, and spread requests over time.',
  headers: { 'retry-after': '1' },
})
