// Who is asked when one does not answer, and that everybody comes back to the first.
import { expect, it } from 'vitest'
import { serversInTurn } from './servers-in-turn.ts'

it('asks the next one when one does not answer, and the first one again after a while', () => {
  let nowMs = 0
  const turn = serversInTurn(3, () => nowMs)
  turn.leave(0)
  expect(turn.current()).toBe(1)
  turn.leave(1)
  expect(turn.current()).toBe(2)
  nowMs = 29_999
  expect(turn.current()).toBe(2)
  nowMs = 30_000
  expect(turn.current()).toBe(0)
})

it('goes round, and is not moved by whoever asked one that was left long ago', () => {
  const turn = serversInTurn(2, () => 0)
  turn.leave(1)
  expect(turn.current()).toBe(0)
  turn.leave(0)
  turn.leave(0)
  expect(turn.current()).toBe(1)
  turn.leave(1)
  expect(turn.current()).toBe(0)
})
