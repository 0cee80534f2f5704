// Whatever a message holds, what is stored about it is JSON that Postgres takes.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { storableJson } from './storable-json.ts'

it('has neither NUL nor lone surrogates, and leaves everything else as it is', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      (hostile, plain) => {
        const stored = storableJson({
          a: [`${hostile}\u0000\ud800`],
          plain: plain.replaceAll('\0', ''),
        })
        expect(stored.isWellFormed()).toBe(true)
        expect(stored).not.toMatch(/(?<!\\)(?:\\\\)*\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/)
        expect(JSON.parse(stored).plain).toBe(plain.replaceAll('\0', '').toWellFormed())
      },
    ),
  )
})
