// Whoever meets an error code finds it in infra/errors.md, and nothing stands there that no code answers.
import { expect, it } from 'vitest'
import { sourceFiles } from './source-files.ts'
import type { SourceFile } from './source-files.ts'

const LITERAL = /(?<!\[|formerly: )'(BATON_[A-Z0-9_]+)'/g
const ROW = /^\| `(BATON_[A-Z0-9_]+)`/gm

const pageOf = (path: string): string =>
  sourceFiles('.md').find((file) => file.path === path)?.text ?? ''

const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name]) => name ?? '')

/** Error codes are the quoted names in the code that ships, less the names of settings, former ones too. */
function codesIn(files: readonly SourceFile[], variables: readonly string[]): readonly string[] {
  const literals = files
    .filter(({ path }) => /^(?:packages|services|examples|infra)\//.test(path))
    .filter(({ path }) => !/\.test\.ts$|^packages\/testkit\//.test(path))
    .flatMap(({ text }) => namesIn(text, LITERAL))
  const known = new Set(variables)
  return [...new Set(literals)].filter((name) => !known.has(name)).toSorted()
}

const documented = namesIn(pageOf('infra/errors.md'), ROW)

it('every error code has one row in infra/errors.md, and every row has its code', () => {
  const variables = namesIn(pageOf('infra/settings.md'), ROW)
  const codes = codesIn(sourceFiles('.ts', '.mjs'), variables)
  expect(codes.length).toBeGreaterThan(100)
  expect(documented.toSorted()).toEqual(codes)
})

it('the rule sees thrown codes and no variables', () => {
  const text = `
    throw permanent('BATON_THROWN', 'words')
    const given = environment['BATON_READ']
    const PASSED_ON = new Set(['BATON_FIRST', 'BATON_SECOND'])
  `
  expect(codesIn([{ path: 'services/a/src/b.ts', text }], ['BATON_SECOND'])).toEqual([
    'BATON_THROWN',
  ])
  expect(codesIn([{ path: 'packages/a/src/b.test.ts', text }], [])).toEqual([])
})
