// House rules about names and words. Each rule returns its findings; each finding says what to do instead.
import { basename } from 'node:path'
import type { SourceFile } from './source-files.ts'

type Rule = (files: readonly SourceFile[]) => readonly string[]

const EMPTY_NAMES = /(^|[-.])(utils?|helpers?|common|misc|manager|shared-stuff)([-.]|$)/
const EMPTY_IDENTIFIER =
  /\b(?:class|function|const|interface|type)\s+(\w*(?:Utils?|Helpers?|Manager))\b/g
// Spelt in two halves so that this file does not find itself.
const UNFINISHED = new RegExp(`\\b(?:${'TO'}DO|${'FIX'}ME|${'X'}XX)\\b`)

/** A file is named after what it holds. */
export const namesSayWhat: Rule = (files) => [
  ...files
    .filter(({ path }) => EMPTY_NAMES.test(basename(path)))
    .map(({ path }) => `${path}: name the file after the one thing it holds`),
  ...files.flatMap(({ path, text }) =>
    [...text.matchAll(EMPTY_IDENTIFIER)].map(
      ([, name]) => `${path}: "${name}" says nothing; name what it does`,
    ),
  ),
]

/** The reader learns from the first line what a file guarantees. */
export const filesOpenWithAComment: Rule = (files) =>
  files
    .filter(({ text }) => !/^(?:#!.*\n)?(?:\/\/ |\/\*\*? ?\n? ?\*? ?)\S/.test(text))
    .map(({ path }) => `${path}: begin with one comment sentence of what this file guarantees`)

// As git writes them, and as a formatter leaves them on a page.
const MERGE_MARK = /^\s*(?:\\?={7}$|<{7} |(?:> ?){7})/

/** Two versions of a text are one before they land. */
export const nothingUnmerged: Rule = (files) =>
  files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        MERGE_MARK.test(line) ? [`${path}:${index + 1}: choose between the two versions`] : [],
      ),
  )

/** Unfinished work is an issue, not a comment. */
export const nothingUnfinished: Rule = (files) =>
  files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        UNFINISHED.test(line) ? [`${path}:${index + 1}: finish it or file an issue`] : [],
      ),
  )
