// Whatever keeps a handoff from being done is told with its place, how to mend it and what to type.
import { expect, it } from 'vitest'
import { troubleLines, troublesOf } from './handoff-troubles.ts'

const ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
const handoff = (state: string, changes: object = {}) => ({
  handoffId: ID,
  taskId: '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d',
  fromAgent: 'intake',
  toAgent: 'legal',
  state,
  reason: null,
  details: null,
  attempt: 1,
  attemptsMax: 3,
  resumesHandoffId: null,
  ...changes,
})

it('says reason, places, fixes, remedy and the next command', () => {
  const details = [
    {
      pointer: '/currentState/text',
      rule: 'required',
      message: 'is missing',
      fix: 'Give the state its key text.',
    },
  ]
  const stopped = handoff('ROLLED_BACK', { reason: 'INCOMPLETE_CONTEXT', details })
  expect(troubleLines(troublesOf([stopped]))).toEqual([
    '7c9e6679 intake → legal is ROLLED_BACK: INCOMPLETE_CONTEXT',
    '  at /currentState/text: is missing (required)',
    '    Give the state its key text.',
    '  Correct the state at these places, as it is said there, and send it anew.',
  ])
  expect(troubleLines(troublesOf([stopped, handoff('QUEUED')]))).toContain(
    '  npm run baton -- task resume 1a2b3c4d',
  )
})

it.each([
  ['DEAD_LETTERED', 'SIGNATURE_INVALID', /BATON_SIGNING_KEYS/, /dlq show 7c9e6679/],
  ['DEAD_LETTERED', 'SAFETY_VIOLATION', /Two reviewers/, /dlq show/],
  ['REJECTED', 'BUDGET_EXHAUSTED', /budgetRemainingUSD/, /escalations/],
  ['ROLLED_BACK', 'BATON_REVIEW_UNAVAILABLE', /legal failed with BATON_REVIEW_U/, /task resume/],
  ['EXPIRED', null, /deadline/, /task resume/],
  ['BLOCKED', 'BLOCKED', /capabilities/, /agents$/],
  ['AWAITING_APPROVAL', null, /until a person approves/, new RegExp(`approve ${ID}`)],
  ['QUEUED', null, /waits for an agent of the type legal/, /agents$/],
  ['QUEUED', 'BATON_AWAY', /tried again, 1 of 3/, /agents$/],
])('%s %s', (state, reason, remedy, next) => {
  const [trouble] = troublesOf([handoff(state, { reason })])
  expect(trouble?.remedy).toMatch(remedy)
  expect(trouble?.next).toMatch(next)
})

it('leaves out what is done, what executes and what was taken up again', () => {
  const again = handoff('EXECUTING', { handoffId: 'other', resumesHandoffId: ID })
  expect(troublesOf([handoff('COMPLETED'), handoff('ROLLED_BACK'), again])).toEqual([])
})
