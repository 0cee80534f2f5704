// A deprecated member is told of where it is used, and nowhere else.
import handoff21 from '@baton/schemas/handoff/2.1.json' with { type: 'json' }
import { expect, it } from 'vitest'
import { sampleMessage, sampleScan } from '../fixtures/sample-handoff.ts'
import { createDeprecationCheck } from './deprecations.ts'
import type { JsonObject } from './json.ts'
import { judgeMessage } from './judge-message.ts'

const check = createDeprecationCheck({
  properties: {
    old: { type: 'string', deprecated: true },
    new: { type: 'string' },
    turns: { items: { $ref: '#/$defs/Turn' } },
  },
  $defs: {
    Turn: {
      properties: {
        'ro/le': { deprecated: true },
        replies: { items: { $ref: '#/$defs/Turn' } },
      },
    },
  },
})
const pointers = (value: Parameters<typeof check>[0]) => check(value).map(({ pointer }) => pointer)

it('names every deprecated member that is there', () => {
  expect(pointers({ old: 'x', new: 'y' })).toEqual(['/old'])
  expect(pointers({ turns: [{}, { 'ro/le': 1 }, { 'ro/le': null }] })).toEqual([
    '/turns/1/ro~1le',
    '/turns/2/ro~1le',
  ])
  expect(check({ old: '' })).toMatchObject([
    { rule: 'deprecated', fix: expect.stringMatching(/./) },
  ])
})

it('says nothing of values that have none, whatever they are', () => {
  for (const value of [{ new: 'y' }, { turns: 'old' }, { turns: [1, null] }, [], 'old', null, {}])
    expect(check(value)).toEqual([])
})

it('says no more than anybody reads', () => {
  expect(check({ turns: Array.from({ length: 1_000 }, () => ({ 'ro/le': 1 })) })).toHaveLength(50)
})

it('warns with the verdict on a valid message, and nothing of the newest schema is deprecated yet', () => {
  expect(createDeprecationCheck(handoff21)(sampleMessage() as unknown as JsonObject)).toEqual([])
  expect(judgeMessage(sampleMessage(), { scan: sampleScan })).toMatchObject({ warnings: [] })
})
