// Files of settings: everybody who reads them reads the same, and nothing in them needs quotes.
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { formatSettings } from './settings-file.ts'

describe('a file of settings', () => {
  const characters = Array.from({ length: 256 }, (_, code) => String.fromCodePoint(code))
  const isPlain = (character: string) => /[ -~]/.test(character) && !/[\s"'`\\$#]/.test(character)
  const around = (character: string) => [
    character,
    `${character}b`,
    `a${character}b`,
    `a${character}`,
  ]

  it.each(characters.filter(isPlain))('is read as what was written: %j', (character) => {
    for (const value of around(character)) {
      const text = formatSettings({ NAME: value })
      expect(text).toBe(`NAME=${value}\n`)
      expect(parseEnv(text)).toEqual({ NAME: value })
    }
  })

  it.each(characters.filter((one) => !isPlain(one)))('is refused with %j', (character) => {
    for (const value of around(character))
      expect(() => formatSettings({ NAME: value })).toThrow(/without quotes/)
  })

  it('leaves out what is not said, and stands in the order of names', () => {
    expect(formatSettings({ B: '2', A: '1', C: undefined, D: '' })).toBe('A=1\nB=2\n')
  })

  it('never shows the value that it refuses', () => {
    expect(() => formatSettings({ SECRET: 'pass$word' })).toThrow(/^SECRET has a character/)
  })
})
