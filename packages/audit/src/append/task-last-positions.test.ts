// What is remembered about tasks is bounded, and forgotten whole when a chain moved without us.
import { expect, test } from 'vitest'
import { GENESIS_HASH } from '@baton/ledger'
import { createTaskLastPositions } from './task-last-positions.ts'

test('a task without records starts at the genesis', () => {
  const tasks = createTaskLastPositions()
  expect(tasks.get(0, 'a')).toBeUndefined()
  tasks.set(0, 'a')
  expect(tasks.get(0, 'a')).toEqual({ nextSeq: 0, lastHash: GENESIS_HASH })
  expect(tasks.get(1, 'a')).toBeUndefined()
})

test('forgetting one chain keeps the others', () => {
  const tasks = createTaskLastPositions()
  const position = { nextSeq: 3, lastHash: Buffer.alloc(32, 1) }
  tasks.set(0, 'a', position)
  tasks.set(1, 'b', position)
  tasks.forget(0)
  expect([tasks.get(0, 'a'), tasks.get(1, 'b')]).toEqual([undefined, position])
})

test('the tasks that were active longest ago are forgotten first', () => {
  const tasks = createTaskLastPositions()
  for (let task = 0; task < 50_000; task += 1) tasks.set(0, String(task))
  tasks.set(0, '0')
  tasks.set(0, 'one more')
  expect(tasks.get(0, '0')).toBeDefined()
  expect(tasks.get(0, '1')).toBeUndefined()
})
