// Patterns that decide nothing but say that a text is worth reading in another form; they ride on the rule pass for free.
import { list } from './rule.ts'

/** The other forms a text can be read in without leaving its characters. */
export type Rewrite = 'rotated' | 'reversed' | 'leet' | 'turns'

export interface Trigger {
  readonly rewrite: Rewrite
  /** Any of these in the normalised text asks for the rewrite. */
  readonly anchors: readonly string[]
}

const OPENINGS = ['instruction', 'previous', 'disregard', 'system prompt', 'ignore ']

/** Turns each letter `shift` places on in the alphabet; other characters stay. */
export function rotateLetters(text: string, shift: number): string {
  return text.replaceAll(/[a-z]/gu, (letter) =>
    String.fromCharCode(97 + ((letter.charCodeAt(0) - 97 + shift) % 26)),
  )
}

function rotations(): string[] {
  const rotated: string[] = []
  for (let shift = 1; shift < 26; shift++) {
    for (const word of ['instruction', 'previous']) rotated.push(rotateLetters(word, shift))
  }
  return rotated
}

export const TRIGGERS: readonly Trigger[] = [
  { rewrite: 'rotated', anchors: rotations() },
  {
    rewrite: 'reversed',
    anchors: OPENINGS.map((word) => Array.from(word).toReversed().join('')),
  },
  {
    rewrite: 'leet',
    anchors: [
      ...list('1gnor|1gn0r|!gnor|!gn0r|ign0r|ignor3|d1sreg|d1sr3g|disr3g|f0rget|f0rg37|f0rg3t'),
      ...list(
        '1nstruc|1n57ruc|1ns7ruc|1n5truc|ins7ruc|in57ruc|in5truc|instruct1|instruct!|instructi0',
      ),
      ...list('pr3v|prev1|prev!|previ0|pr10r|pr1or|pri0r|pr0mpt|pr0mp7'),
    ],
  },
  { rewrite: 'turns', anchors: ['}, {"role"', '},{"role"', "}, {'role'"] },
]

/** Phrases looked for in the letters-only copy, where words cut by spaces, fields or punctuation stand together again. */
export const JOINED_ANCHORS: readonly string[] = [
  ...list(
    'ignoreprevious|ignoreallprevious|ignoretheprevious|ignoreprior|ignoreallprior|ignoretheabove',
  ),
  ...list('disregardprevious|disregardallprevious|disregardprior|forgetprevious|forgetallprevious'),
  ...list('previousinstructions|strictlyadhere|yoursystemprompt'),
]
