// Nobody closes everything by saying nothing, and nobody is asked which of two was meant.
import { expect, it } from 'vitest'
import { oneOrMany } from './handle-many.ts'

const meant = (id: string | undefined, selection: object) =>
  oneOrMany(id, selection, { one: (named) => named, many: () => 'many' })

it('is one by its id, or many by options', () => {
  expect(meant('7f3c', {})).toBe('7f3c')
  expect(meant(undefined, { reason: 'SCHEMA_INVALID' })).toBe('many')
})

it.each([
  [undefined, {}],
  [undefined, { reason: undefined }],
  ['7f3c', { reason: 'SCHEMA_INVALID' }],
])('is neither by %j with %j', (id, selection) => {
  expect(() => meant(id, selection)).toThrow('either an id says which')
})
