// What a bulk re-drive does next, and what dead letters have in common: pure decisions.
import { expect, it } from 'vitest'
import type { CanaryState } from '@baton/store'
import { nextRedriveStep } from './redrive.ts'
import { clusterOf, reviewersNeeded } from './review.ts'

const canary = (deadLetter: CanaryState['deadLetter'], state = 'QUEUED'): CanaryState => ({
  handoffId: 'h',
  deadLetter,
  state,
  reason: state === 'ROLLED_BACK' ? 'WHY' : null,
  ended: !['QUEUED', 'EXECUTING'].includes(state),
})
const next = (states: readonly CanaryState[], canaryOverdue = false) =>
  nextRedriveStep({ state: 'CANARY', ratePerSecond: 3, canaryOverdue }, states)

it('sends the canary first, waits for it, and then the rest at its rate', () => {
  expect(next([canary('WAITING')])).toMatchObject({
    state: 'CANARY',
    drive: { canary: true, limit: 5 },
  })
  expect(next([canary('DRIVEN', 'EXECUTING'), canary('DRIVEN', 'COMPLETED')])).toMatchObject({
    state: 'CANARY',
    drive: null,
  })
  const rest = { state: 'RUNNING', drive: { canary: false, limit: 3 } }
  expect(next([canary('DRIVEN', 'COMPLETED'), canary('SKIPPED')])).toMatchObject(rest)
})

it.each([
  ['a canary that failed', [canary('DRIVEN', 'ROLLED_BACK')], false, 'CANARY_FAILED'],
  ['one that is late', [canary('DRIVEN', 'EXECUTING')], true, 'CANARY_LATE'],
  ['no canary left', [canary('SKIPPED')], false, 'CANARY_GONE'],
])('stops at %s', (_, states, overdue, code) => {
  expect(next(states, overdue)).toMatchObject({ state: 'STOPPED', drive: null, why: { code } })
})

it('names a cluster by rules and kinds of places, in one order, bounded and without odd characters', () => {
  const at = (pointer: string, rule = 'r') => ({ pointer, rule })
  expect(clusterOf('POISON', [])).toBe('POISON')
  expect(clusterOf('X', [at('/a/10/b'), at('/a/2/b'), at('/a', 'q')])).toBe('X q@/a r@/a/*/b')
  expect(clusterOf('X', [at('/a/2/b'), at('/a', 'q')])).toBe('X q@/a r@/a/*/b')
  const many = Array.from({ length: 9 }, (_, index) =>
    at(`/${'ab'[index % 2]}${'x'.repeat(index)}`),
  )
  expect(clusterOf('X', many)).toMatch(/\+4$/)
  expect(clusterOf('X', [at(`/${'y'.repeat(5_000)}`)]).length).toBeLessThan(200)
  expect(clusterOf('X', [at('/a\u0000\u001b[31m')])).toBe('X r@/a??[31m')
})

it('takes two people for what is unsafe, one for what was interrupted, nobody for what nobody signed', () => {
  const needed = (reason: string) => [
    reviewersNeeded(reason, 'RELEASE'),
    reviewersNeeded(reason, 'REDACT'),
  ]
  expect(needed('SAFETY_VIOLATION')).toEqual([2, 2])
  expect(needed('POISON')).toEqual([1, 1])
  expect(needed('UNRECORDABLE')).toEqual([1, 1])
  expect(needed('SIGNATURE_INVALID')).toEqual([null, null])
  expect(needed('SOMETHING_NEW')).toEqual([2, 2])
})
