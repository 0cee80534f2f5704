// The match copy is plain, and every span of it leads back to the source.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalise } from './normalise.ts'

describe('normalise', () => {
  it('lowers ASCII and keeps its offsets', () => {
    const { text, map } = normalise('Hello World')
    expect(text).toBe('hello world')
    expect(map(6, 11)).toEqual([6, 11])
  })

  it('folds compatibility forms, accents and marks', () => {
    expect(normalise('ﬁrst Ｆｏｕｒ ⁵ Ünïcödé e\u0301 𝔣𝔯𝔞𝔨 ɪɢɴᴏʀᴇ 🅸🅶').text).toBe(
      'first four 5 unicode e frak ignore ig',
    )
  })

  it('folds lookalikes only in tokens that mix scripts', () => {
    expect(normalise('ignоrе привет').text).toBe('ignore привет')
  })

  it('maps a folded span back to the characters it came from', () => {
    const { text, map } = normalise('a\u200b\u200bb ﬁ 🙂 c')
    expect(text).toBe('ab fi 🙂 c')
    expect(map(0, 2)).toEqual([0, 4])
    expect(map(3, 5)).toEqual([5, 6])
    expect(map(9, 10)).toEqual([10, 11])
  })

  it('counts only invisible characters that no script or emoji explains', () => {
    expect(normalise('می‌خواهم').unexplained.count).toBe(0)
    expect(normalise('क्‍या').unexplained.count).toBe(0)
    expect(normalise('👨‍👩‍👧 🏴󠁧󠁢󠁳󠁣󠁴󠁿 ☀️').unexplained.count).toBe(0)
    expect(normalise('i\u200bg\u200dn\u2060o').unexplained.count).toBe(3)
  })

  it('decodes runs of tags and of variation selectors', () => {
    const tags = Array.from('secret', (letter) =>
      String.fromCodePoint(0xe0000 + letter.charCodeAt(0)),
    ).join('')
    const selectors = Array.from('secrets!', (letter) =>
      String.fromCodePoint(0xe0100 + letter.charCodeAt(0) - 16),
    ).join('')
    expect(normalise(`ok${tags}`).hidden).toEqual([{ kind: 'tags', text: 'secret', span: [2, 14] }])
    expect(normalise(`👍${selectors}`).hidden).toEqual([
      { kind: 'selectors', text: 'secrets!', span: [2, 18] },
    ])
  })

  it('reads a text that was cut inside a character to its end, compiled or not', () => {
    // A cut string shares the memory of the longer one, in which the other half still stands: where it was read, this never ended.
    const whole = '\u{e0041}'.repeat(4_000)
    for (let round = 0; round < 20_000; round++) {
      const length = 33 + 2 * (round % 100)
      const { hidden } = normalise(whole.slice(0, length))
      expect(hidden).toMatchObject([{ kind: 'tags', span: [0, length - 1] }])
    }
  })

  it('keeps spans inside the source and in order for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), fc.nat(), (source, first, second) => {
        const { text, map } = normalise(source)
        if (text.length === 0) return
        const start = Math.min(first, second) % text.length
        const end = Math.min(text.length, start + 1 + (second % 5))
        const span = map(start, end)
        expect(span[0]).toBeGreaterThanOrEqual(0)
        expect(span[1]).toBeGreaterThan(span[0])
        expect(span[1]).toBeLessThanOrEqual(source.length)
      }),
    )
  })
})
