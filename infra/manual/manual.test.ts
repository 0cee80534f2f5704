// Every page of the manual has its place, every link of it leads somewhere, and a page of its own says what its file says.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandsShown, shellWords } from './commands.ts'
import { policyOf } from './content-policy.ts'
import { fencesOf, headingsOf, linksOf, plainText } from './markdown.ts'
import { SECTIONS, SPLIT } from './navigation.ts'
import { brokenLinks, readManual, resolverOf, ROOT } from './pages.ts'
import { TYPED_ALONE, TYPED_BY_TESTS } from './run-commands.ts'

const manual = readManual()

describe('the manual', () => {
  it('holds every page under infra/, once', () => {
    const files = globSync('infra/**/*.md', { cwd: ROOT, exclude: ['**/node_modules/**'] })
    const whole = manual.pages
      .filter(({ source }) => !SPLIT.has(source))
      .map(({ source }) => source)
    expect(whole).toEqual([...new Set(whole)])
    expect(files.filter((file) => !manual.pages.some(({ source }) => source === file))).toEqual([])
  })

  it('gives each page an address of its own', () => {
    const slugs = manual.pages.map(({ slug }) => slug)
    expect(slugs).toEqual([...new Set(slugs)])
  })

  it('says of each page what it is about', () => {
    expect(
      manual.pages.filter(({ description }) => description === '').map(({ slug }) => slug),
    ).toEqual([])
  })

  it('leads nowhere that is not there', () => expect(brokenLinks(manual.pages)).toEqual([]))

  it('shows in one group of each section what no list names', () => {
    const matching = (path: string) =>
      SECTIONS.flatMap(({ groups }) => groups.filter(({ rest }) => rest?.test(path)))
    for (const path of [
      'infra/new.md',
      'infra/new/README.md',
      'infra/runbooks/new.md',
      'infra/protocols/new.md',
    ])
      expect(matching(path)).toHaveLength(1)
  })
})

describe('a link', () => {
  const resolve = resolverOf(manual.pages)

  it('into a file of many pages leads to the page of its heading', () => {
    const target = resolve('infra/tls.md', 'README.md#postgres')
    expect(target).toMatchObject({ kind: 'page', anchor: 'postgres' })
    expect(target.kind === 'page' && target.page.slug).toMatch(/servers-of-your-own$/)
  })

  it('to a heading or file that is not there is found', () => {
    expect(resolve('infra/tls.md', 'keys.md#nowhere').kind).toBe('missing')
    expect(resolve('infra/tls.md', 'nowhere.md').kind).toBe('missing')
  })

  it('to source code shows it as text', () => {
    expect(resolve('infra/tls.md', '../package.json')).toEqual({
      kind: 'file',
      path: 'package.json',
    })
  })
})

describe('Markdown', () => {
  it('has the anchors that GitHub gives', () => {
    const text = '# `a.b` and _c_\n\n## Is it well?\n```sh\n# no heading\n```\n## Is it well?\n'
    expect(headingsOf(text).map(({ anchor }) => anchor)).toEqual([
      'ab-and-c',
      'is-it-well',
      'is-it-well-1',
    ])
  })

  it('has no links in code', () => {
    expect(linksOf('[`a`](b.md) `[c](d.md)`\n```\n[e](f.md)\n```\n')).toEqual(['b.md'])
  })

  it('has fences with their languages and places', () => {
    expect(fencesOf('one\n\n```sh\nls\n```\n')).toEqual([{ language: 'sh', text: 'ls\n', line: 3 }])
  })

  it('reads without its marks', () => {
    expect(plainText('A **b** `c_d` _e_ [f](g.md)')).toBe('A b c_d e f')
  })
})

it('a page runs the scripts that were built into it, and no other', () => {
  const policy = policyOf('<script>a()</script><script src="/b.js"></script>')
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval' 'sha256-")
  expect(policy.match(/sha256/g)).toHaveLength(1)
})

describe('a command of a page', () => {
  it('is what is typed, and what is named in a sentence', () => {
    const page =
      'See `npm run baton -- trace`.\n\n```sh\nnpm run baton -- dlq ls --json | head # all\n```\n'
    expect(commandsShown(page).map(({ words, mentioned }) => [words.join(' '), mentioned])).toEqual(
      [
        ['dlq ls --json', false],
        ['trace', true],
      ],
    )
  })

  it('has the words that a shell would give it', () => {
    expect(shellWords(` a "b c" 'd e' > f`)).toEqual(['a', 'b c', 'd e'])
  })

  it('that is left to a test is left to one that is there, and reads its page', () => {
    for (const { pages, test } of TYPED_BY_TESTS) {
      const of = manual.pages.filter(({ source }) => pages.test(source))
      const text = readFileSync(join(ROOT, test), 'utf8')
      expect(of).not.toEqual([])
      expect(of.some(({ source }) => text.includes(source.replace(/\/[^/]*$/, '')))).toBe(true)
    }
    for (const test of TYPED_ALONE.values()) expect(existsSync(join(ROOT, test))).toBe(true)
  })
})
