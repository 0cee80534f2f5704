// Whom an answer names is told apart from those of its message, and what no record could name is refused.
import { expect, it } from 'vitest'
import { namedIn } from './named-in-answer.ts'

const answer = (dataSubjects: readonly unknown[]) => ({
  personalData: { dataSubjects: dataSubjects as string[], payload: {} },
})

it('names each person once, and nobody whom the message names', () => {
  expect(namedIn(answer(['s2', 's1', 's2', 's3']), { dataSubjects: ['s1'] })).toEqual(['s2', 's3'])
  expect(namedIn({}, { dataSubjects: ['s1'] })).toEqual([])
})

it.each([
  ['a@example.org'],
  ['two words'],
  ['\0'],
  ['\ud800'],
  [''],
  ['s'.repeat(257)],
  [7],
  [null],
])('refuses %j, and says where it stands and not what it is', (id) => {
  expect(() => namedIn(answer(['s1', id]), {})).toThrow(
    'the agent answered /personalData/dataSubjects/1 is no opaque id',
  )
})

it('refuses more people than a record can name', () => {
  const many = Array.from({ length: 256 }, (_, index) => `s${index}`)
  expect(namedIn(answer(many), {})).toHaveLength(256)
  expect(() => namedIn(answer(many), { dataSubjects: ['one-more'] })).toThrow('more than 256')
})
