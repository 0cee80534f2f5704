// Says no early: too many requests at once answer 503 (I12).
import { ProblemError } from '@baton/http/server'

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
  detail: 'the gateway has as many requests under way as it takes',
  fix: 'Try again after the time in Retry-After, and spread requests over time.',
  headers: { 'retry-after': '1' },
})
