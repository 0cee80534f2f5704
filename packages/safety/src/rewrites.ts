// Reads a normalised text in another order or spelling: rotated, backwards, spaced, leet, split over turns, letters only.
import { createLiteralScan } from './automaton.ts'
import type { Hint } from './matcher.ts'
import { JOINED_ANCHORS, rotateLetters } from './rules/triggers.ts'
import { composeMaps, DERIVED_LENGTH_MAX, PieceMap, reverseMap, shiftMap } from './span-map.ts'
import type { Derived } from './span-map.ts'

const BEFORE_HINT = 2048
const JOINED_AROUND = 512
const JOINED_MAX = 4

// Separators and letters exclude one another, so that matching is linear.
const SPACED = /(?<![a-z0-9])[a-z](?![a-z0-9])(?:[ .,:_*|-]{1,5}[a-z0-9](?![a-z0-9])){7,}/gu
const SEPARATED = /([ .,:_*|-]+)([a-z0-9])/gu
const TURN_BORDER =
  /["']\s?\}\s?,\s?\{\s?["']role["']\s?:\s?["'][a-z]{1,12}["']\s?,\s?["']content["']\s?:\s?["']/gu

const LEET: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '!': 'i',
  '3': 'e',
  '4': 'a',
  '@': 'a',
  '5': 's',
  $: 's',
  '7': 't',
  '9': 'g',
}

/** The form a hint asks for, read around the hint. */
export function rewriteAt(text: string, hint: Hint): Derived[] {
  const start = Math.max(0, hint.at - BEFORE_HINT)
  const part = text.slice(start, start + DERIVED_LENGTH_MAX)
  return rewrite(part, hint).map((derived) => ({
    ...derived,
    map: composeMaps(derived.map, shiftMap(start)),
  }))
}

function rewrite(part: string, { rewrite: kind }: Hint): Derived[] {
  switch (kind) {
    case 'rotated':
      return rotate(part)
    case 'reversed':
      return [{ kind, text: part.split('').toReversed().join(''), map: reverseMap(part.length) }]
    case 'leet':
      return [
        {
          kind,
          text: part.replaceAll(/[01!34@5$79]/gu, (digit) => LEET[digit] ?? digit),
          map: shiftMap(0),
        },
      ]
    case 'turns':
      return [joinTurns(part)]
  }
}

/** The rotations under which a trigger word appears; 13 is the usual one. */
function rotate(part: string): Derived[] {
  const derived: Derived[] = []
  for (let shift = 1; shift < 26; shift++) {
    if (
      !part.includes(rotateLetters('instruction', shift)) &&
      !part.includes(rotateLetters('previous', shift))
    )
      continue
    derived.push({
      kind: shift === 13 ? 'rot13' : 'rotated',
      text: rotateLetters(part, 26 - shift),
      map: shiftMap(0),
    })
  }
  return derived.slice(0, 2)
}

function joinTurns(part: string): Derived {
  const pieces = new PieceMap()
  let text = ''
  let done = 0
  for (const border of part.matchAll(TURN_BORDER)) {
    pieces.copy(text.length, done)
    text += part.slice(done, border.index)
    done = border.index + border[0].length
    pieces.replace(text.length, border.index, done)
    text += ' '
  }
  pieces.copy(text.length, done)
  return { kind: 'turns', text: text + part.slice(done), map: pieces.map }
}

/** Stretches of single letters with separators between them, put together as words. */
export function joinSpaced(text: string, max: number): Derived[] {
  const pieces = new PieceMap()
  let joined = ''
  for (const stretch of text.matchAll(SPACED)) {
    if (joined.length > 0) joined += '\n'
    pieces.copy(joined.length, stretch.index)
    joined += stretch[0][0] ?? ''
    const usual = separatorAfterFirst(stretch[0])
    for (const part of stretch[0].slice(1).matchAll(SEPARATED)) {
      const at = stretch.index + 1 + part.index
      if (part[1] !== usual) {
        pieces.replace(joined.length, at, at + (part[1] ?? '').length)
        joined += ' '
      }
      pieces.copy(joined.length, at + (part[1] ?? '').length)
      joined += part[2] ?? ''
    }
    if (joined.length > DERIVED_LENGTH_MAX) break
  }
  return joined.length === 0 || max < 1 ? [] : [{ kind: 'spaced', text: joined, map: pieces.map }]
}

function separatorAfterFirst(stretch: string): string {
  return /^.([^a-z0-9]+)/u.exec(stretch)?.[1] ?? ' '
}

const scanJoined = createLiteralScan(JOINED_ANCHORS.map((text) => ({ text, bits: 1 })))

/** The surroundings of an override phrase that shows only when everything but letters is left out. */
export function joinLetters(text: string, max: number): Derived[] {
  const letters = text.replaceAll(/[^a-z]+/gu, '')
  const ends: number[] = []
  scanJoined(letters, (end) => {
    if (ends.length < JOINED_MAX && end - (ends.at(-1) ?? -JOINED_AROUND) >= JOINED_AROUND)
      ends.push(end)
  })
  return ends.slice(0, max).map((end) => lettersAround(text, letters, end))
}

function lettersAround(text: string, letters: string, end: number): Derived {
  const from = Math.max(0, end - JOINED_AROUND)
  const part = letters.slice(from, end + JOINED_AROUND)
  const pieces = new PieceMap()
  let seen = 0
  let inRun = false
  for (let index = 0; index < text.length && seen < from + part.length; index++) {
    const unit = text.charCodeAt(index)
    const isLetter = unit >= 97 && unit <= 122
    if (isLetter && seen >= from && !inRun) pieces.copy(seen - from, index)
    inRun = isLetter && seen >= from
    if (isLetter) seen += 1
  }
  return { kind: 'joined', text: part, map: pieces.map }
}
