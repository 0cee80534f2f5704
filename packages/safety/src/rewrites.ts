// Reads a normalised text in another order or spelling: rotated, mirrored, backwards, spaced, leet, split over turns, letters only.
import { createLiteralScan } from './automaton.ts'
import type { Hint } from './hints.ts'
import {
  asciiTable,
  JOINED_ANCHORS,
  mapAscii,
  mirrorLetters,
  rotateLetters,
} from './rules/triggers.ts'
import { composeMaps, joinDerived, PieceMap, reverseMap, shiftMap } from './span-map.ts'
import type { Derived, Span } from './span-map.ts'

const JOINED_AROUND = 512

// Separators and letters exclude one another, so that matching is linear.
const SPACED = /(?<![a-z0-9])[a-z](?![a-z0-9])(?:[ .,:_*|-]{1,5}[a-z0-9](?![a-z0-9])){7,}/giu
const SEPARATED = /([ .,:_*|-]+)([a-z0-9])/giu
const TURN_BORDER =
  /["']\s?\}\s?,\s?\{\s?["']role["']\s?:\s?["'][a-z]{1,12}["']\s?,\s?["']content["']\s?:\s?["']/giu

const LEET_SIGNS = new Map(
  Array.from('01!34@5$79', (sign, index) => [sign.charCodeAt(0), 'oiieaasstg'.charCodeAt(index)]),
)
const LEET = asciiTable((unit) => LEET_SIGNS.get(unit) ?? unit)

/** The form that hints ask for, read around them. */
export function rewrite(text: string, hint: Hint): Derived[] {
  const parts = hint.around.map(([start, end]) => {
    const { text: rewritten, map } = rewritePart(text.slice(start, end), hint)
    return { kind: hint.rewrite, text: rewritten, map: composeMaps(map, shiftMap(start)) }
  })
  return joinDerived(hint.shift === 13 ? 'rot13' : hint.rewrite, parts)
}

function rewritePart(part: string, { rewrite: kind, shift }: Hint): Omit<Derived, 'kind'> {
  switch (kind) {
    case 'rotated':
      return { text: rotateLetters(part, (26 - shift) % 26), map: shiftMap(0) }
    case 'mirrored':
      return { text: mirrorLetters(part), map: shiftMap(0) }
    case 'reversed':
      return { text: reverse(part), map: reverseMap(part.length) }
    case 'leet':
      return { text: mapAscii(part, LEET), map: shiftMap(0) }
    case 'turns':
      return joinTurns(part)
  }
}

export function reverse(text: string): string {
  const units = Buffer.from(text, 'utf16le')
  return Buffer.from(units.swap16().toReversed()).toString('utf16le')
}

function joinTurns(part: string): Omit<Derived, 'kind'> {
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
  return { text: text + part.slice(done), map: pieces.map }
}

/** Stretches of single letters with separators between them, put together as words. */
export function joinSpaced(text: string): Derived[] {
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
  }
  return joined.length === 0 ? [] : [{ kind: 'spaced', text: joined, map: pieces.map }]
}

function separatorAfterFirst(stretch: string): string {
  return /^.([^a-z0-9]+)/iu.exec(stretch)?.[1] ?? ' '
}

const scanJoined = createLiteralScan(JOINED_ANCHORS.map((text) => ({ text, bits: 1 })))

/** The surroundings of the override phrases that show only when everything but letters is left out. */
export function joinLetters(text: string): Derived[] {
  const letters = text.replaceAll(/[^a-z]+/gu, '')
  const around: [start: number, end: number][] = []
  scanJoined(letters, (end) => {
    const last = around.at(-1)
    if (last !== undefined && end - JOINED_AROUND <= last[1]) last[1] = end + JOINED_AROUND
    else around.push([Math.max(0, end - JOINED_AROUND), end + JOINED_AROUND])
  })
  return lettersOf(text, around)
}

/** Of the letters of a text those in some parts, which are given in letters. */
function lettersOf(text: string, parts: readonly Span[]): Derived[] {
  const pieces = new PieceMap()
  let joined = ''
  let seen = 0
  let at = 0
  let wasTaken = false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 97 || unit > 122) {
      wasTaken = false
      continue
    }
    if (seen === parts[at]?.[1]) {
      at += 1
      wasTaken = false
      joined += '\n'
    }
    const part = parts[at]
    if (part === undefined) break
    if (seen >= part[0]) {
      if (!wasTaken) pieces.copy(joined.length, index)
      joined += text[index] ?? ''
      wasTaken = true
    }
    seen += 1
  }
  return joined === '' ? [] : [{ kind: 'joined', text: joined, map: pieces.map }]
}
