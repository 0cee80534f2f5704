// The routing table says what the source and the rulings say.
import { describe, expect, it } from 'vitest'
import { ROUTES } from './rejection.ts'
import type { RejectionReason, Route } from './rejection.ts'

describe('routes', () => {
  it.each<[RejectionReason, Partial<Route>]>([
    [
      'SCHEMA_INVALID',
      { retry: true, deadLetter: false, rollBack: true, taskStatus: 'PENDING_HANDOFF' },
    ],
    [
      'INCOMPLETE_CONTEXT',
      { retry: true, deadLetter: false, rollBack: true, taskStatus: 'PENDING_HANDOFF' },
    ],
    ['SAFETY_VIOLATION', { retry: false, deadLetter: true, alert: true }],
    ['SIGNATURE_INVALID', { retry: false, deadLetter: true, alert: true }],
    [
      'BUDGET_EXHAUSTED',
      { retry: false, deadLetter: false, rollBack: false, taskStatus: 'AWAITING_HUMAN' },
    ],
  ])('%s', (reason, route) => {
    expect(ROUTES[reason]).toMatchObject(route)
  })

  it('never retries what is quarantined', () => {
    for (const { retry, deadLetter } of Object.values(ROUTES))
      expect(retry && deadLetter).toBe(false)
  })
})
