// What is compatible and what is not, by the published schemas and by one change at a time.
import handoff20 from '@baton/schemas/handoff/2.0.json' with { type: 'json' }
import handoff21 from '@baton/schemas/handoff/2.1.json' with { type: 'json' }
import handoff22 from '@baton/schemas/handoff/2.2.json' with { type: 'json' }
import { expect, it } from 'vitest'
import { diffSchemas } from './schema-diff.ts'

it('finds 2.1 compatible with 2.0: only optional fields are new', () => {
  const changes = diffSchemas(handoff20, handoff21)
  expect(changes.length).toBeGreaterThan(15)
  expect(changes.filter(({ breaks }) => breaks.length > 0)).toEqual([])
  expect(new Set(changes.map(({ change }) => change))).toEqual(new Set(['is new and optional']))
  expect(changes.map(({ pointer }) => pointer)).toContain('/residency')
})

it('finds 2.2 compatible with 2.1', () => {
  expect(diffSchemas(handoff21, handoff22)).toEqual([
    { pointer: '/pinnedFacts', change: 'is new and optional', breaks: [] },
  ])
})

it('finds the way back incompatible, field by field', () => {
  const changes = diffSchemas(handoff21, handoff20)
  expect(changes).toContainEqual({
    pointer: '/residency',
    change: 'is removed',
    breaks: ['older messages'],
  })
  expect(changes.every(({ breaks }) => breaks.length > 0)).toBe(true)
})

const OLDER = {
  type: 'object',
  required: ['id', 'name'],
  additionalProperties: false,
  properties: {
    id: { $ref: '#/$defs/Id' },
    name: { type: 'string', maxLength: 10, description: 'a name' },
    kind: { type: 'string', enum: ['a', 'b'] },
    old: { type: 'string', deprecated: true },
    inner: {
      type: 'object',
      additionalProperties: false,
      properties: { x: { type: 'integer', minimum: 0 } },
    },
    list: { type: 'array', items: { oneOf: [{ $ref: '#/$defs/Id' }, { type: 'null' }] } },
  },
  $defs: { Id: { type: 'string', pattern: '^[a-z]+$' } },
}
type Changed = typeof OLDER
const changed = (change: (copy: Changed) => void): Changed => {
  const copy = structuredClone(OLDER)
  change(copy)
  return copy
}
const put = (target: object, members: object) => Object.assign(target, members)
const BOTH = ['older messages', 'older receivers']

it('finds nothing between a version and itself', () => {
  expect(diffSchemas(handoff21, handoff21)).toEqual([])
  const inWords = changed((one) => put(one.properties.name, { description: 'other' }))
  expect(diffSchemas(OLDER, inWords)).toEqual([])
})

it.each<[string, (copy: Changed) => void, string, readonly string[]]>([
  ['a new optional field', (one) => put(one.properties, { more: {} }), '/more', []],
  [
    'a new required field',
    (one) => (put(one.properties, { more: {} }), one.required.push('more')),
    '/more',
    ['older messages'],
  ],
  ['a field that is required now', (one) => one.required.push('kind'), '/kind', ['older messages']],
  ['one no longer', (one) => one.required.splice(1), '/name', ['older receivers']],
  [
    'an announced removal',
    (one) => void Reflect.deleteProperty(one.properties, 'old'),
    '/old',
    ['older messages'],
  ],
  [
    'a longer text',
    (one) => put(one.properties.name, { maxLength: 20 }),
    '/name',
    ['older receivers'],
  ],
  [
    'a shorter one',
    (one) => put(one.properties.name, { maxLength: 5 }),
    '/name',
    ['older messages'],
  ],
  ['another type', (one) => put(one.properties.name, { type: 'integer' }), '/name', BOTH],
  [
    'one more type',
    (one) => put(one.properties.name, { type: ['string', 'null'] }),
    '/name',
    ['older receivers'],
  ],
  ['one more value', (one) => one.properties.kind.enum.push('c'), '/kind', ['older receivers']],
  ['one value less', (one) => void one.properties.kind.enum.pop(), '/kind', ['older messages']],
  [
    'a new field in a closed object',
    (one) => put(one.properties.inner.properties, { y: {} }),
    '/inner/y',
    ['older receivers'],
  ],
  [
    'a higher minimum',
    (one) => put(one.properties.inner.properties.x, { minimum: 1 }),
    '/inner/x',
    ['older messages'],
  ],
  ['a shared definition', (one) => put(one.$defs.Id, { pattern: '^[a-f]+$' }), '/id', BOTH],
  ['a rule that cannot be compared', (one) => put(one, { not: { required: ['kind'] } }), '', BOTH],
  ['a deprecation', (one) => put(one.properties.kind, { deprecated: true }), '/kind', []],
])('judges %s', (_, change, pointer, breaks) => {
  const changes = diffSchemas(OLDER, changed(change))
  expect(changes).toEqual([{ pointer, change: expect.stringMatching(/./), breaks }])
})

it('sees a definition that only an alternative refers to', () => {
  const older = changed((one) => void Reflect.deleteProperty(one.properties, 'id'))
  const newer = structuredClone(older)
  put(newer.$defs.Id, { maxLength: 3 })
  expect(diffSchemas(older, newer)).toMatchObject([
    { pointer: '/list/*', breaks: ['older messages'] },
  ])
})
