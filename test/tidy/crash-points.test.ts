// Every crash point of the code has a case that leads a process there.
import { expect, it } from 'vitest'
import { CRASH_POINTS } from '../fault/crash-point-list.ts'
import { sourceFiles } from './source-files.ts'

const sources = sourceFiles('.ts')
const named = sources
  .filter(({ path }) => /^(?:packages|services)\//.test(path) && !path.endsWith('.test.ts'))
  .flatMap(({ text }) => [...text.matchAll(/\bcrashPoint\('([a-z_.]+)'\)/g)])
  .map(([, point]) => point ?? '')

it('test/fault/crash-point-list.ts names every crash point, and no other', () => {
  expect(named.length).toBeGreaterThan(15)
  expect(Object.keys(CRASH_POINTS).toSorted()).toEqual([...new Set(named)].toSorted())
})

it('what is shown in another file is led to there', () => {
  const elsewhere = Object.entries(CRASH_POINTS).flatMap(([point, how]) =>
    'shownIn' in how ? [{ point, file: how.shownIn }] : [],
  )
  for (const { point, file } of elsewhere) {
    const text = sources.find(({ path }) => path === file)?.text ?? ''
    const [act = '', place = ''] = point.split('.')
    expect(text.includes(`'${point}'`) || (text.includes(`'${act}'`) && text.includes(place))).toBe(
      true,
    )
  }
})
