// The checkout keeps its own rules; and each rule is shown to catch what it is for.
import { describe, expect, it } from 'vitest'
import {
  fixturesStayWithTests,
  importsPointDown,
  ledgerStandsAlone,
  librariesStayWithTheirOwners,
  manifestsKeepToTheTable,
} from './ownership-rules.ts'
import { followTableIsTrue } from './readme-rules.ts'
import { sourceFiles } from './source-files.ts'
import {
  filesOpenWithAComment,
  namesSayWhat,
  nothingUnfinished,
  nothingUnmerged,
} from './text-rules.ts'

const code = sourceFiles('.ts', '.mjs', '.mts')

describe('the checkout', () => {
  it('names files and things after what they are', () => {
    expect(namesSayWhat(code)).toEqual([])
  })
  it('opens every file with what it guarantees', () => {
    expect(filesOpenWithAComment(code)).toEqual([])
  })
  it('leaves nothing unfinished behind', () => {
    expect(nothingUnfinished(sourceFiles('.ts', '.mjs', '.sql', '.md', '.json', '.yaml'))).toEqual(
      [],
    )
  })
  it('has merged what was changed twice', () => {
    expect(nothingUnmerged(sourceFiles('.ts', '.mjs', '.sql', '.md', '.json', '.yaml'))).toEqual([])
  })
  it('imports each library only where it belongs', () => {
    expect(librariesStayWithTheirOwners(code)).toEqual([])
    expect(manifestsKeepToTheTable(sourceFiles('package.json'))).toEqual([])
  })
  it('imports only downwards', () => {
    expect(importsPointDown(code)).toEqual([])
    expect(ledgerStandsAlone(code)).toEqual([])
  })
  it('keeps what only tests need out of the product', () => {
    expect(fixturesStayWithTests(code)).toEqual([])
  })
  it('leads a reader through one handoff by files that exist', () => {
    const readme = sourceFiles('README.md').find(({ path }) => path === 'README.md')
    expect(followTableIsTrue(readme?.text ?? '', code)).toEqual([])
  })
})

describe('each rule catches', () => {
  const file = (path: string, text: string) => [{ path, text }]

  it('empty names', () => {
    expect(namesSayWhat(file('packages/store/src/db-utils.ts', ''))).toHaveLength(1)
    expect(namesSayWhat(file('a.ts', `export class ${'Queue'}Manager {}`))).toHaveLength(1)
    expect(namesSayWhat(file('packages/store/src/outbox.ts', 'export const claim = 1'))).toEqual([])
  })
  it('files without an opening sentence', () => {
    expect(filesOpenWithAComment(file('a.ts', "import 'x'\n"))).toHaveLength(1)
    expect(filesOpenWithAComment(file('a.ts', '// Says what.\n'))).toEqual([])
    expect(filesOpenWithAComment(file('a.ts', '/** Says what. */\n'))).toEqual([])
  })
  it('two versions of one text', () => {
    const both = `one\n${'<'.repeat(7)} HEAD\ntwo\n  \\${'='.repeat(7)}\nthree\n${'> '.repeat(7)}c8a65f3\n`
    expect(nothingUnmerged(file('a.md', both))).toEqual([
      'a.md:2: choose between the two versions',
      'a.md:4: choose between the two versions',
      'a.md:6: choose between the two versions',
    ])
    expect(nothingUnmerged(file('a.md', '> quoted\n\n====\n'))).toEqual([])
  })
  it('unfinished work', () => {
    expect(nothingUnfinished(file('a.ts', `one\n// ${'TO'}DO: two`))).toEqual([
      'a.ts:2: finish it or file an issue',
    ])
  })
  it('libraries outside their home', () => {
    expect(
      librariesStayWithTheirOwners(file('services/relay/src/main.ts', "import pg from 'pg'")),
    ).toHaveLength(1)
    expect(
      librariesStayWithTheirOwners(file('packages/postgres/src/a.ts', "import pg from 'pg'")),
    ).toEqual([])
    expect(
      manifestsKeepToTheTable(
        file('services/cli/package.json', '{"dependencies":{"ioredis":"1"}}'),
      ),
    ).toHaveLength(1)
  })
  it('imports that point up', () => {
    expect(
      importsPointDown(file('packages/store/src/a.ts', "import { a } from '@baton/audit'")),
    ).toHaveLength(1)
    expect(
      importsPointDown(file('packages/audit/src/a.ts', "import { a } from '@baton/ledger'")),
    ).toEqual([])
    expect(
      ledgerStandsAlone(file('packages/ledger/src/a.ts', "import { a } from '@baton/schemas'")),
    ).toHaveLength(1)
  })
  it('fixtures in the product', () => {
    const imports = "import { a } from '../fixtures/a.ts'"
    expect(fixturesStayWithTests(file('packages/ledger/src/a.ts', imports))).toHaveLength(1)
    expect(fixturesStayWithTests(file('packages/ledger/src/a.test.ts', imports))).toEqual([])
  })
  it('a table that is not true', () => {
    const row = (path: string) => `| 1 | \`${path}\` | what |`
    const readme = `## Follow one handoff\n\n${Array.from({ length: 8 }, () => row('a.ts')).join('\n')}\n\n## Next\n`
    expect(followTableIsTrue(readme, file('a.ts', 'x\n'))).toEqual([])
    expect(followTableIsTrue(readme, [])).toHaveLength(8)
    expect(followTableIsTrue('# Baton', [])).toHaveLength(1)
  })
})
