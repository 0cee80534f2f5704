// Ten thousand lives of a handoff through the pure decisions: each ends, in time, in the state that its last trouble asks for.
import { ROUTES } from '@baton/protocol'
import type { RejectionReason } from '@baton/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { claimedFrom, sampleHandoff, sampleOptions } from '../../fixtures/sample-delivery.ts'
import { decideFailed, decideQuarantined, decideRejected } from './outcome.ts'
import type { Outcome } from './outcome.ts'

const BACKOFF = { baseMs: 100, capMs: 1_000 }
const OPTIONS = { ...sampleOptions, backoff: BACKOFF }
const LIVES = 10_000
const CHECKS = {
  size: 'passed',
  signature: 'passed',
  schema: 'failed',
  completeness: 'skipped',
  budget: 'skipped',
  safety: 'skipped',
  scan: null,
} as const

const handoff = sampleHandoff()

type Trouble =
  | { readonly kind: 'rejected'; readonly reason: RejectionReason }
  | { readonly kind: 'failed'; readonly retry: boolean }
  | { readonly kind: 'poison' }

const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  fc
    .constantFrom(...(Object.keys(ROUTES) as RejectionReason[]))
    .map((reason): Trouble => ({ kind: 'rejected', reason })),
  fc.boolean().map((retry): Trouble => ({ kind: 'failed', retry })),
  fc.constant<Trouble>({ kind: 'poison' }),
)

interface Try {
  readonly attempt: number
  readonly attemptsMax: number
}

function decide(one: Trouble, at: Try): Outcome {
  const claimed = claimedFrom(handoff, { ...at, fencingToken: at.attempt })
  if (one.kind === 'poison') return decideQuarantined(claimed, { reason: 'POISON', details: [] })
  if (one.kind === 'failed') {
    return decideFailed(claimed, { code: 'BATON_AGENT_FAILED', retry: one.retry }, OPTIONS)
  }
  const { reason } = one
  return decideRejected(claimed, { valid: false, reason, details: [], checks: CHECKS }, OPTIONS)
}

/** What the routing table and the attempts left ask for. */
function wanted(one: Trouble, { attempt, attemptsMax }: Try): string {
  const last = attempt >= attemptsMax
  if (one.kind === 'poison') return 'DEAD_LETTERED'
  if (one.kind === 'failed') return one.retry && !last ? 'retry' : 'ROLLED_BACK'
  const route = ROUTES[one.reason]
  if (route.retry && !last) return 'retry'
  if (route.rollBack) return 'ROLLED_BACK'
  return route.deadLetter ? 'DEAD_LETTERED' : 'REJECTED'
}

function seen(outcome: Outcome): string {
  if (outcome.kind === 'complete') return 'COMPLETED'
  return outcome.kind === 'retry' ? 'retry' : outcome.change.state
}

it(`${LIVES} lives end within their attempts, with jitter inside its bounds`, () => {
  const lives = fc.property(
    fc.integer({ min: 1, max: 6 }),
    fc.array(trouble, { minLength: 7, maxLength: 7 }),
    (attemptsMax, troubles) => {
      let ended = false
      for (const [index, one] of troubles.entries()) {
        const at = { attempt: index + 1, attemptsMax }
        const outcome = decide(one, at)
        expect(seen(outcome)).toBe(wanted(one, at))
        if (outcome.kind !== 'retry') {
          ended = true
          break
        }
        const { delayMs } = outcome.change
        expect(delayMs).toBeGreaterThanOrEqual(0)
        expect(delayMs).toBeLessThan(Math.min(BACKOFF.capMs, BACKOFF.baseMs * 2 ** index))
      }
      expect(ended).toBe(true)
    },
  )
  const report = fc.check(lives, { numRuns: LIVES })
  process.stderr.write(`outcome sequences: seed ${report.seed}\n`)
  expect(fc.defaultReportMessage(report) ?? 'no counterexample').toBe('no counterexample')
})
