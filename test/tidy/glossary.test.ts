// Code and pages use the words of the glossary: a word that it replaced is found wherever it comes back.
import { expect, it } from 'vitest'
import { glossaryIsKept, replacedWords } from './glossary-rule.ts'
import { sourceFiles } from './source-files.ts'

const files = sourceFiles('.ts', '.mjs', '.mts', '.sql', '.md')
const page = files.find(({ path }) => path === 'packages/glossary.md')?.text ?? ''

/** Migrations and the change log keep the names of their day; rules and golden texts quote what attackers and contracts say. */
const QUOTED = [
  // Names of migrations that are never edited.
  /^infra\/migrations\.md$/,
  /\/migrations\/.*\/?000[1-7]_/,
  /^packages\/store\/migrations\/0008_/,
  /^packages\/safety\/src\/rules\//,
  /^packages\/safety\/golden\//,
  /^CHANGELOG\.md$/,
  // It quotes schemas, whose published versions never change.
  /^infra\/reference\/messages\.md$/,
  /^packages\/glossary\.md$/,
  /^test\/tidy\/glossary/,
]

/** What Node calls a part of the heap. */
const FOREIGN = /\bmaxOldGenerationSizeMb\b/g

it('the checkout keeps to the glossary', () => {
  expect(replacedWords(page).length).toBeGreaterThan(20)
  const own = files
    .filter(({ path }) => !QUOTED.some((pattern) => pattern.test(path)))
    .map(({ path, text }) => ({ path, text: text.replaceAll(FOREIGN, '') }))
  expect(glossaryIsKept(page, own)).toEqual([])
})

it('a word that was replaced is found in every spelling, and nowhere else', () => {
  const table = '| word | what | not |\n| watermark | a number | `queue mark`, `lapse` |'
  const found = (text: string) => glossaryIsKept(table, [{ path: 'a.ts', text }])
  const replaced = ['queue_marks', 'QUEUE_MARK', 'listQueueMarks', 'a queue mark', 'lapsed']
  expect(replaced.filter((text) => found(text).length === 0)).toEqual([])
  const others = ['elapsed', 'collapse', 'queue', 'marks', 'queueWatermarks']
  expect(others.flatMap(found)).toEqual([])
})
