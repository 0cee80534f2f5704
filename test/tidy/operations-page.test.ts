// Log events and crash points are contracts: the pages that list them say neither more nor less than the code.
import { expect, it } from 'vitest'
import { sourceFiles } from './source-files.ts'

const pages = new Map(sourceFiles('.md').map(({ path, text }) => [path, text]))
const shipped = sourceFiles('.ts').filter(
  ({ path }) =>
    /^(?:packages|services|examples|infra)\//.test(path) &&
    !/\.test\.ts$|^packages\/testkit\/|\/fixtures\//.test(path),
)

/** What `pattern` captures, each once and in order. */
const found = (texts: readonly string[], pattern: RegExp): readonly string[] => {
  const names = texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name ?? ''))
  return [...new Set(names)].toSorted()
}

const inCode = (pattern: RegExp) =>
  found(
    shipped.map(({ text }) => text),
    pattern,
  )
const inPage = (path: string, pattern: RegExp) => found([pages.get(path) ?? ''], pattern)

it('infra/README.md lists every log event', () => {
  const events = inCode(/\bevent: '(alert|[a-z]+\.[a-z_]+)'/g)
  expect(events.length).toBeGreaterThan(30)
  const row = /^\| `(alert|[a-z]+\.[a-z_]+)` +\| (?:debug|info|warn|error|fatal)/gm
  expect(inPage('infra/README.md', row)).toEqual(events)
})

it('test/README.md lists every crash point', () => {
  const points = inCode(/\bcrashPoint\('([a-z_.]+)'\)/g)
  expect(points.length).toBeGreaterThan(15)
  expect(inPage('test/README.md', /^\| `([a-z]+\.[a-z_]+)` /gm)).toEqual(points)
})

it('no setting is called what the file of another is', () => {
  const names = inPage('infra/settings.md', /^\| `([A-Z][A-Z0-9_]+)` /gm)
  expect(names.length).toBeGreaterThan(100)
  expect(
    names.filter((name) => names.includes(name.replace(/_FILE$/, '')) && name.endsWith('_FILE')),
  ).toEqual([])
})
