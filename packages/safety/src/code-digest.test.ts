// The ruleset version covers every line that decides: a release holds for the scanner that judged, and for no other.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codeDigest, decidingFiles } from '../generate-code-digest.ts'
import { CODE_DIGEST } from './generated/code-digest.ts'

const read = (file: string): string =>
  readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')

const changed = (name: string, change: (source: string) => string) => (file: string) =>
  file === name ? change(read(file)) : read(file)

describe('the code digest', () => {
  it('is of the code as it stands (mend: node packages/safety/generate-code-digest.ts)', () => {
    expect(CODE_DIGEST).toBe(codeDigest())
  })

  it('covers folding, decoding, rewriting, rules, quotation, the work allowed and the decision', () => {
    expect(decidingFiles()).toEqual(
      expect.arrayContaining([
        'characters.ts',
        'decision.ts',
        'decoders.ts',
        'escapes.ts',
        'matcher.ts',
        'quotation.ts',
        'rewrites.ts',
        'rules/override.ts',
        'work.ts',
      ]),
    )
  })

  it.each(decidingFiles())('is another when a line of %s is another', (name) => {
    expect(codeDigest(changed(name, (source) => `${source}export const more = 1\n`))).not.toBe(
      CODE_DIGEST,
    )
  })

  it('is the same when only a comment is another', () => {
    const more = (source: string) => `// More.\n/** Even\n * more. */\n${source}`
    expect(codeDigest(changed('quotation.ts', more))).toBe(CODE_DIGEST)
  })
})
