// Whoever misspells a name is told which ones are near, and nothing where none is.
import { expect, it } from 'vitest'
import { nearestNames } from './nearest-names.ts'

const NAMES = ['override-ignore', 'override-forget', 'authority', 'exfiltrate']

it.each([
  ['overide-ignore', ['override-ignore']],
  ['override-igonre', ['override-ignore']],
  ['authorty', ['authority']],
  ['override-x', ['override-forget', 'override-ignore']],
  ['zebra', []],
  ['', []],
])('takes %j for %j', (text, names) => {
  expect(nearestNames(text, NAMES).toSorted()).toEqual(names)
})
