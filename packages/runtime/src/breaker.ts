// A breaker around a call to something that can be down: fails fast while it is, tries again by itself.
import { createRequire } from 'node:module'
import type OpossumBreaker from 'opossum'
import { BatonError, transient } from './errors.ts'

const require = createRequire(import.meta.url)
// Loaded with the first breaker: most commands of the command line need none, and are to answer at once.
const loadOpossum = (): typeof OpossumBreaker => require('opossum') as typeof OpossumBreaker

interface BreakerOptions {
  /** Slightly above the inner time-out, so that the inner one is the one that names the cause. */
  readonly timeoutMs: number
  readonly resetMs?: number
  /** Most calls under way at once. */
  readonly capacity?: number
  /** Which failures count against what is called; by default all but permanent ones, which never do. */
  readonly isFault?: (error: unknown) => boolean
}

export interface Breaker<Arguments extends readonly unknown[], Result> {
  /** Rejects with BATON_BREAKER_OPEN while open, BATON_OVERLOADED above capacity; both transient. */
  fire(...args: Arguments): Promise<Result>
  readonly open: boolean
  /** Lets calls through again at once, when something else has shown that they will be answered. */
  reset(): void
  onChange(listener: (open: boolean) => void): void
  close(): void
}

// A permanent refusal is an answer, not an outage.
const isAnswer = (error: unknown): boolean =>
  error instanceof BatonError && error.kind === 'permanent'

function translate(name: string, error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code
  if (code === 'EOPENBREAKER') {
    return transient('BATON_BREAKER_OPEN', `${name} is not answering; calls are paused`, {
      cause: error,
      fix: 'Check that it runs and can be reached; calls resume by themselves.',
    })
  }
  if (code === 'ESEMLOCKED') {
    return transient('BATON_OVERLOADED', `${name}: too many calls are under way`, {
      cause: error,
      fix: 'Slow down and try again after a short wait.',
    })
  }
  if (code === 'ETIMEDOUT' && !(error instanceof BatonError)) {
    return transient('BATON_TIMEOUT', `${name} did not answer in time`, {
      cause: error,
      fix: 'Check its load and the network; the call may be repeated.',
    })
  }
  return error
}

/** Wraps `action` with opossum. Opens at 50 % failures of at least 5 calls within 10 s. */
export function createBreaker<Arguments extends readonly unknown[], Result>(
  name: string,
  action: (...args: Arguments) => Promise<Result>,
  { timeoutMs, resetMs = 2_000, capacity = 32, isFault = () => true }: BreakerOptions,
): Breaker<Arguments, Result> {
  const CircuitBreaker = loadOpossum()
  const breaker = new CircuitBreaker<unknown[], Result>(
    (...args: unknown[]) => action(...(args as unknown as Arguments)),
    {
      name,
      timeout: timeoutMs,
      resetTimeout: resetMs,
      capacity,
      errorThresholdPercentage: 50,
      volumeThreshold: 5,
      rollingCountTimeout: 10_000,
      errorFilter: (error) => isAnswer(error) || !isFault(error),
    },
  )
  return {
    get open() {
      return breaker.opened
    },
    async fire(...args) {
      try {
        return await breaker.fire(...(args as unknown as unknown[]))
      } catch (error) {
        throw translate(name, error)
      }
    },
    reset: () => breaker.close(),
    onChange(listener) {
      breaker.on('open', () => listener(true))
      breaker.on('close', () => listener(false))
    },
    close: () => breaker.shutdown(),
  }
}
