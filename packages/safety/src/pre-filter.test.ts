// A shut trigger proves that its probe finds nothing, the runs are exact, and no probe runs behind a shut trigger.
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLiteralScan } from './automaton.ts'
import type { LiteralScan } from './automaton.ts'
import * as codeLists from './code-lists.ts'
import * as decoders from './decoders.ts'
import * as escapes from './escapes.ts'
import * as rewrites from './rewrites.ts'
import { createScanner } from './scanner.ts'
import { createPreFilter } from './pre-filter.ts'

vi.mock('./code-lists.ts', { spy: true })
vi.mock('./decoders.ts', { spy: true })
vi.mock('./escapes.ts', { spy: true })
vi.mock('./rewrites.ts', { spy: true })

const PROBES = {
  runs: vi.mocked(decoders.decodeRuns),
  escapes: vi.mocked(escapes.decodeEscapes),
  broken: vi.mocked(decoders.joinBroken),
  codes: vi.mocked(codeLists.decodeCodeLists),
  rewrites: vi.mocked(rewrites.rewrite),
  spaced: vi.mocked(rewrites.joinSpaced),
  joined: vi.mocked(rewrites.joinLetters),
}

const LITERALS = ['please', 'ignore', 'ore', 'pre', '中', 'é中'].map((text, index) => ({
  text,
  bits: 1 << index,
}))
const preFilter = createPreFilter(LITERALS)
const triggersOf = (text: string) => preFilter(text, () => undefined)

describe('createPreFilter', () => {
  const parts = fc.oneof(
    fc.constantFrom('a', 'b', 'q', '7', ' ', '.', ', ', '-', '|', '\n', 'é', '中'),
    fc.constantFrom('i g n o r e ', 'ignore', 'pre', 'vious', 'strictly', 'ad', 'here'),
    fc.constantFrom('%41', '%', '&#65;', '\\u0041', 'c0ffee', 'zm9vymfy'),
    fc.constantFrom(
      'aGVs ',
      'bG8g\n',
      'aGVsbG8g ',
      'dGhl cmUg YmVz dCBm cmll bmQg b2Yg bWlu ',
      '\r\n',
    ),
    fc.constantFrom('69 '.repeat(14), '6e,', '0x6f ', '110 ', 'u+006f ', '2'),
  )
  const texts = fc.array(parts, { maxLength: 80 }).map((list) => list.join(''))

  it('shuts a trigger only where the probe finds nothing', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const triggers = triggersOf(text)
        expect({
          spaced: !triggers.spaced && rewrites.joinSpaced(text).length > 0,
          joined: !triggers.joined && rewrites.joinLetters(text).length > 0,
          broken: !triggers.broken && decoders.joinBroken(text).length > 0,
          codes: !triggers.codes && codeLists.decodeCodeLists(text).length > 0,
          escapes: triggers.escapes < escapes.ESCAPES_MIN && escapes.decodeEscapes(text).length > 0,
        }).toEqual({ spaced: false, joined: false, broken: false, codes: false, escapes: false })
      }),
      { numRuns: 1000 },
    )
  })

  it('reports the same literals as a scan for nothing else', () => {
    const reported = (scan: LiteralScan | typeof preFilter, text: string) => {
      const found: string[] = []
      scan(text, (end, bits) => found.push(`${end}:${bits}`))
      return found
    }
    const scan = createLiteralScan(LITERALS)
    fc.assert(
      fc.property(texts, (text) => {
        expect(reported(preFilter, text)).toEqual(reported(scan, text))
      }),
    )
  })

  it('lists whole runs of base64 characters', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const runs = Array.from(text.matchAll(/[a-z0-9+/_-]{24,}/giu), ({ 0: run, index }) => [
          index,
          index + run.length,
        ])
        expect(triggersOf(text).runs).toEqual(runs)
      }),
    )
  })

  it('opens the triggers it is for, up to the last character', () => {
    expect(triggersOf('xx i g n o r e  a t').spaced).toBe(true)
    expect(triggersOf('1 2 3 4 5 6 7 8 9').spaced).toBe(false)
    expect(triggersOf('strict ly, ad-here').joined).toBe(true)
    expect(triggersOf('strict qly, ad-here').joined).toBe(false)
    expect(triggersOf('% & \\ =').escapes).toBe(4)
    expect(triggersOf('6f, '.repeat(16)).codes).toBe(true)
    expect(triggersOf('6f, '.repeat(15)).codes).toBe(false)
    expect(triggersOf(`${'6f '.repeat(15)}6f`).codes).toBe(true)
    expect(triggersOf(`${'0x6f '.repeat(15)}is 6f`).codes).toBe(false)
  })
})

describe('probes', () => {
  const scanner = createScanner()
  const callsFor = (text: string) => {
    vi.clearAllMocks()
    scanner.scan({ currentState: { note: text } })
    return Object.entries(PROBES).flatMap(([name, probe]) =>
      probe.mock.calls.length > 0 ? [name] : [],
    )
  }

  afterEach(() => vi.clearAllMocks())

  it('are all skipped for ordinary prose and JSON', () => {
    expect(callsFor('The tenant shall pay 900 EUR a month, i.e. in advance. '.repeat(80))).toEqual(
      [],
    )
    expect(
      callsFor('{"clause": "c-1", "pages": [1, 2, 3, 4, 5, 6, 7, 8, 9]}, '.repeat(80)),
    ).toEqual([])
    expect(callsFor('Größe, naïveté, “quotes” and 中文 – a 5 % share. '.repeat(2))).toEqual([])
  })

  const single: Readonly<Record<keyof typeof PROBES, string>> = {
    runs: 'ref a69dd27e-9079-44e2-ac78-c9dc9c6952ea',
    escapes: 'word%20word '.repeat(3),
    broken: 'aGVs bG8g dGhl cmUg YmVz dCBm cmll bmQg b2Yg bWlu',
    codes: '12 10 2026 12:30 12:45 13:00 14:00 14:10 14:20 14:30',
    rewrites: 'the snoitcurtsni are here',
    spaced: 'C O N T R A C T',
    joined: 'pre vious in structions',
  }
  it.each(Object.entries(single))('%s alone runs behind its own trigger', (name, text) => {
    expect(callsFor(text)).toEqual([name])
  })
})
