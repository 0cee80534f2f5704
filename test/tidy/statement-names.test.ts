// A prepared statement is known by its name: on one connection no two statements may share one.
import { expect, it } from 'vitest'
import { sourceFiles } from './source-files.ts'

const NAMED =
  /(?:\b(?:run|ids|settledIds)(?:<[^;(]*?>)?\(\s*\w+(?:\.\w+)?,\s*|\bstatement: )'([a-z_0-9]+)'/g

it.each(['store', 'audit'])('each statement of packages/%s has a name of its own', (owner) => {
  const files = sourceFiles('.ts').filter(
    ({ path }) => path.startsWith(`packages/${owner}/src/`) && !path.endsWith('.test.ts'),
  )
  const named = files.flatMap(({ path, text }) =>
    [...text.matchAll(NAMED)].map(([, name = '']) => ({ name, path })),
  )
  expect(named.length).toBeGreaterThan(10)
  const uses = Map.groupBy(named, ({ name }) => name)
  expect([...uses].filter(([, all]) => all.length > 1)).toEqual([])
})
