// The most urgent pointer leaves first, and none overtakes another of its priority.
import { describe, expect, it } from 'vitest'
import { createPriorityBuffer } from './priority-buffer.ts'
import type { Pointer, Priority } from './transport.ts'

const pointer = (handoffId: string): Pointer => ({
  v: 1,
  handoffId,
  taskId: 't',
  publishAttempt: 1,
  sha256: '',
  bytes: 0,
  traceparent: '',
})

describe('priority buffer', () => {
  it('gives the most urgent first and keeps the order within a priority', () => {
    const buffer = createPriorityBuffer()
    const added: [Priority, string][] = [
      [2, 'c'],
      [3, 'e'],
      [0, 'a'],
      [2, 'd'],
      [1, 'b'],
    ]
    for (const [priority, id] of added) buffer.push(priority, pointer(id))
    expect(buffer.size).toBe(5)
    const taken = added.map(() => buffer.take()?.pointer.handoffId)
    expect(taken).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(buffer.take()).toBeUndefined()
    expect(buffer.size).toBe(0)
  })

  it('keeps its order and its count through long mixed use', () => {
    const buffer = createPriorityBuffer()
    let added = 0
    let taken = 0
    for (let round = 0; round < 20; round += 1) {
      for (let index = 0; index < 500; index += 1) buffer.push(2, pointer(String(added++)))
      for (let index = 0; index < 450; index += 1) {
        expect(buffer.take()?.pointer.handoffId).toBe(String(taken++))
      }
      expect(buffer.size).toBe(added - taken)
    }
    while (taken < added) expect(buffer.take()?.pointer.handoffId).toBe(String(taken++))
    expect(buffer.take()).toBeUndefined()
  })

  it('gives what was put back before anything else of its priority', () => {
    const buffer = createPriorityBuffer()
    for (const id of ['a', 'b', 'c']) buffer.push(2, pointer(id))
    const [first, second] = [buffer.take(), buffer.take()]
    for (const taken of [second, first]) if (taken !== undefined) buffer.putBack(taken)
    buffer.push(1, pointer('urgent'))
    const order = [1, 2, 3, 4].map(() => buffer.take()?.pointer.handoffId)
    expect(order).toEqual(['urgent', 'a', 'b', 'c'])
    expect(buffer.size).toBe(0)
  })
})
