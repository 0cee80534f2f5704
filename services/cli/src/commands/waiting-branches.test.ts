// At 3 a.m. a task that branched fits 80 columns, says which branches wait for a person, and what to type about each.
import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { branchTable, waitingFor, waitingLines } from './waiting-branches.ts'

const TASK = '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d'
const id = (nth: number): string => `7c9e6679-7425-40de-944b-${String(nth).padStart(12, '0')}`
const handoff = (nth: number, state: string, changes: object = {}) => ({
  handoffId: id(nth),
  taskId: TASK,
  toAgent: 'g-leaf',
  state,
  attempt: 1,
  attemptsMax: 3,
  reason: null,
  branch: { branchId: `b${nth}`, name: `b${nth}`, outcome: null },
  ...changes,
})
const over = { branch: { branchId: 'b2', name: 'b2', outcome: 'COMPLETED' } }

it('names what waits, with what takes it up again and what goes on without it', () => {
  const handoffs = [
    handoff(1, 'COMPLETED', { branch: null }),
    handoff(2, 'COMPLETED', over),
    handoff(3, 'ROLLED_BACK', { reason: 'G_BROKEN' }),
    handoff(4, 'DEAD_LETTERED', { reason: 'SAFETY_VIOLATION' }),
  ]
  expect(waitingLines(handoffs)).toEqual([
    '2 of 3 branches wait for a person:',
    '  b3 (g-leaf): ROLLED_BACK G_BROKEN',
    '    takes it up again:',
    `    npm run baton -- task resume 1a2b3c4d --handoff 7c9e6679`,
    '    goes on without it:',
    `    npm run baton -- cancel ${id(3)}`,
    '  b4 (g-leaf): DEAD_LETTERED SAFETY_VIOLATION',
    '    shows what is wrong with it:',
    '    npm run baton -- dlq show 7c9e6679',
  ])
})

it('leaves out what was taken up again, what is over, and what waits for nobody', () => {
  const place = { branch: { branchId: 'b9', name: 'b9', outcome: null } }
  const handoffs = [
    handoff(2, 'ROLLED_BACK', over),
    handoff(3, 'ROLLED_BACK', place),
    handoff(4, 'EXECUTING', place),
  ]
  expect(waitingFor(handoffs)).toEqual([])
  expect(waitingLines(handoffs)).toEqual([])
})

it('fits 80 columns with long names, and tells of the first five', () => {
  const name = 'a very long name of a branch / within another one / and another'
  const handoffs = Array.from({ length: 40 }, (_, nth) =>
    handoff(nth, ['AWAITING_APPROVAL', 'BLOCKED', 'ROLLED_BACK'][nth % 3] ?? '', {
      toAgent: 'an-agent-type-of-a-long-name',
      reason: 'BATON_A_REASON_THAT_IS_LONG_TOO',
      branch: { branchId: String(nth), name: `${name} ${nth}`, outcome: null },
    }),
  )
  const lines = [...branchTable(handoffs).split('\n'), ...waitingLines(handoffs)]
  expect(lines.filter((line) => stringWidth(line) > 80)).toEqual([])
  expect(lines.at(-1)).toBe('  and 35 more')
})
