// Migrations are applied in the order of their numbers, so that each number stands once in its folder, without a hole.
import { expect, it } from 'vitest'
import { sourceFiles } from './source-files.ts'

it('every migration has a number of its own', () => {
  const byFolder = Map.groupBy(
    sourceFiles('.sql').filter(({ path }) => /\/migrations\//.test(path)),
    ({ path }) => path.slice(0, path.lastIndexOf('/')),
  )
  expect(byFolder.size).toBeGreaterThan(2)
  for (const files of byFolder.values()) {
    const numbers = files
      .map(({ path }) => Number(/\/(\d+)_\w+\.sql$/.exec(path)?.[1]))
      .toSorted((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  }
})
