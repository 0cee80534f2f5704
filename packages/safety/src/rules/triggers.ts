// Patterns that decide nothing but say that a text is worth reading in another form; they ride on the rule pass for free.
import { combine, list } from './rule.ts'

/** The other forms a text can be read in without leaving its characters. */
export type Rewrite = 'rotated' | 'mirrored' | 'reversed' | 'leet' | 'turns'

export interface Trigger {
  readonly rewrite: Rewrite
  /** Any of these in the normalised text asks for the rewrite. */
  readonly anchors: readonly string[]
}

const OPENINGS = [
  ...list('instruction|previous|disregard|guideline|directive|system prompt'),
  ...list('ignore |forget '),
]

/** What each ASCII character becomes. */
export type AsciiTable = Uint8Array

export const asciiTable = (change: (unit: number) => number): AsciiTable =>
  Uint8Array.from({ length: 128 }, (_, unit) => change(unit))

/** Replaces ASCII characters by others, one by one. */
export function mapAscii(text: string, table: AsciiTable): string {
  const bytes = Buffer.from(text, 'utf16le')
  for (let index = 0; index < bytes.length; index += 2)
    if (bytes[index + 1] === 0) bytes[index] = table[bytes[index] ?? 0] ?? bytes[index] ?? 0
  return bytes.toString('utf16le')
}

/** A table that moves letters within the alphabet of their case, by their place in it. */
const letterTable = (move: (place: number) => number): AsciiTable =>
  asciiTable((unit) => {
    const first = unit < 97 ? 65 : 97
    return unit >= first && unit < first + 26 ? first + move(unit - first) : unit
  })

const ROTATIONS = Array.from({ length: 26 }, (_, shift) =>
  letterTable((place) => (place + shift) % 26),
)
const NO_ROTATION = letterTable((place) => place)
const MIRROR = letterTable((place) => 25 - place)

/** Turns each letter `shift` places on in the alphabet, 0 to 25; other characters stay. */
export function rotateLetters(text: string, shift: number): string {
  return mapAscii(text, ROTATIONS[shift] ?? NO_ROTATION)
}

/** Reads the alphabet backwards (atbash); the same twice gives the text again. */
export const mirrorLetters = (text: string): string => mapAscii(text, MIRROR)

const ROTATED = list('instruction|previous|disregard|guideline|directive').map((word) => ({
  last: word.charCodeAt(word.length - 1),
  /** Itself first. */
  rotations: Array.from({ length: 26 }, (_, shift) => rotateLetters(word, shift)),
}))

/** By how many places the trigger word that ends there was rotated. */
export function shiftAt(text: string, end: number): number | undefined {
  for (const { last, rotations } of ROTATED) {
    const shift = (text.charCodeAt(end - 1) - last + 26) % 26
    const word = rotations[shift] ?? ''
    if (text.startsWith(word, end - word.length)) return shift
  }
  return undefined
}

export const TRIGGERS: readonly Trigger[] = [
  { rewrite: 'rotated', anchors: ROTATED.flatMap(({ rotations }) => rotations.slice(1)) },
  { rewrite: 'mirrored', anchors: OPENINGS.map(mirrorLetters) },
  {
    rewrite: 'reversed',
    anchors: OPENINGS.map((word) => Array.from(word).toReversed().join('')),
  },
  {
    rewrite: 'leet',
    anchors: [
      ...list(
        '1gnor|1gn0r|!gnor|!gn0r|ign0r|ignor3|d1sreg|d1sr3g|disr3g|d15r|di5r|f0rget|f0rg37|f0rg3t',
      ),
      ...list(
        '1nstruc|1n57ruc|1ns7ruc|1n5truc|ins7ruc|in57ruc|in5truc|instruct1|instruct!|instructi0',
      ),
      ...list(
        'pr3v|prev1|prev!|previ0|pr10r|pr1or|pri0r|pr0mpt|pr0mp7|gu1d3l|guid3l|gu1del|d1r3ct|dir3ct|d1rect|d1r3c7',
      ),
    ],
  },
  { rewrite: 'turns', anchors: ['}, {"role"', '},{"role"', "}, {'role'"] },
]

/** Phrases looked for in the letters-only copy, where words cut by spaces, fields or punctuation stand together again. */
export const JOINED_ANCHORS: readonly string[] = [
  ...combine(
    'ignore|disregard|forget',
    'previous|prior|earlier|theabove|theprevious|theprior|yourearlier|yourprevious|yourprior|allprevious|allprior|alltheabove|alltheprevious',
  ),
  ...list('previousinstructions|strictlyadhere|yoursystemprompt'),
]
