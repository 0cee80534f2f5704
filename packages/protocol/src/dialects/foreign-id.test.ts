// Ids of other protocols: the same text is the same UUID for ever, and a UUID stays what it is.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { foreignUuid } from './foreign-id.ts'

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

it('R08 keeps a UUID of version 4, in lower case', () => {
  const id = '5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11'
  expect(foreignUuid('session', 'task', id)).toBe(id)
  expect(foreignUuid('session', 'task', id.toUpperCase())).toBe(id)
})

it('R08 makes the same UUID of the same text, whenever it is asked', () => {
  expect(foreignUuid('handoffs-api', 'task', 'task-9d4e-a1b2')).toBe(
    '4a64726a-efac-487f-9be7-a982540c3799',
  )
  const others = [
    foreignUuid('handoffs-api', 'handoff', 'task-9d4e-a1b2'),
    foreignUuid('session', 'task', 'task-9d4e-a1b2'),
    foreignUuid('handoffs-api', 'task', 'TASK-9d4e-a1b2'),
    foreignUuid('handoffs-api', 'task', '5d0f2c8e-7d3c-1f0a-9d53-0a3f7a0a1c11'),
  ]
  expect(new Set(others).size).toBe(4)
})

it('makes a UUID that a message takes of any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (id) => {
      expect(foreignUuid('session', 'task', id)).toMatch(UUID_V4)
    }),
  )
})
