// Every test file belongs to a project of vitest.config.ts: one that no project includes runs nowhere, and nobody sees it fail.
import { matchesGlob } from 'node:path'
import { expect, it } from 'vitest'
import { sourceFiles } from './source-files.ts'

interface Config {
  readonly test: { readonly projects: readonly { readonly test: { include: readonly string[] } }[] }
}

it('runs every test file but those of fixtures', async () => {
  const url = new URL('../../vitest.config.ts', import.meta.url)
  const { default: config } = (await import(url.href)) as { readonly default: Config }
  const included = config.test.projects.flatMap(({ test }) => test.include)
  expect(included.length).toBeGreaterThan(10)
  const forgotten = sourceFiles('.test.ts')
    .map(({ path }) => path)
    .filter((path) => !path.includes('/fixtures/'))
    .filter((path) => !included.some((glob) => matchesGlob(path, glob)))
  expect(forgotten).toEqual([])
})
