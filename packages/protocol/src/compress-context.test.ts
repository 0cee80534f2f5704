// Compression fires when it must, fits, and keeps what is needed downstream (E03, E23, E32 c).
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compressContext } from './compress-context.ts'
import type { Compression, CompressionOptions } from './compress-context.ts'
import { ProtocolError } from './detail.ts'
import type { Turn } from './generated/handoff.ts'
import { countTokens } from './token-count.ts'

interface Golden {
  readonly name: string
  readonly turns: readonly Turn[]
  readonly mustKeep: readonly string[]
}

const GOLDEN = fileURLToPath(new URL('../golden/', import.meta.url))
const golden = readdirSync(GOLDEN).map((file): Golden =>
  JSON.parse(readFileSync(GOLDEN + file, 'utf8')),
)

const TALK = [
  'Let me think about this step by step and see where that leads us in the end.',
  'That sounds fine to me, please go on whenever you are ready to continue.',
  'There are several ways of looking at it, and each of them has its own merits.',
  'Thanks for the patience so far, it makes the whole exercise much easier for everybody.',
]

// What a summary has to keep, scattered over the conversation.
const PLANTED = [
  'The supplier is Contoso Metals in Rotterdam, contract number 88-1204.',
  'We decided to use the second offer because it includes insurance.',
  'Deliveries must never arrive later than 18:00.',
  'Warning: the customs form for lot 7 is incomplete.',
  'inventory_lookup: 3,412 units in hall B',
]

const TURN_TOKENS = 80

/** A conversation of about so many tokens, with the planted statements spread over its old part. */
function conversation(tokens: number): Turn[] {
  const count = Math.ceil(tokens / TURN_TOKENS)
  const turns = Array.from({ length: count }, (_, index) => talk(index))
  for (const [index, statement] of PLANTED.entries())
    turns.splice(Math.floor(((index + 0.5) * (count - 6)) / PLANTED.length), 1, spoken(statement))
  return turns
}

function talk(index: number): Turn {
  const sentences = [0, 1, 2, 3].map((part) => `${TALK[(index + part) % TALK.length]}`)
  return { role: index % 2 === 0 ? 'user' : 'assistant', content: sentences.join(' ') }
}

function spoken(statement: string): Turn {
  return statement.startsWith('inventory_lookup')
    ? { role: 'tool', content: statement, tool_call_id: 'call-1' }
    : { role: 'assistant', content: `${TALK[0]} ${statement} ${TALK[1]}` }
}

const tokensOf = ({ summary, verbatim }: Compression) =>
  countTokens(summary) + verbatim.reduce((sum, turn) => sum + countTokens(JSON.stringify(turn)), 0)

const compress = (turns: readonly Turn[], options: CompressionOptions, summary = '') =>
  compressContext({ turns, summary }, options)

describe('threshold', () => {
  const turns = conversation(2000)

  it('leaves a conversation alone that fits', () => {
    const result = compress(turns, { windowTokens: 100_000 }, 'before')
    expect(result).toEqual({
      compressed: false,
      summary: 'before',
      verbatim: turns,
      turnsSummarised: 0,
    })
  })

  it('is 80 percent of the window unless told otherwise', () => {
    const tokens = tokensOf({ compressed: false, summary: '', verbatim: turns, turnsSummarised: 0 })
    expect(compress(turns, { windowTokens: Math.ceil(tokens / 0.8) }).compressed).toBe(false)
    expect(compress(turns, { windowTokens: Math.floor(tokens / 0.81) }).compressed).toBe(true)
    expect(
      compress(turns, { windowTokens: Math.ceil(tokens / 0.5), threshold: 0.5 }).compressed,
    ).toBe(false)
    expect(
      compress(turns, { windowTokens: Math.floor(tokens / 0.51), threshold: 0.5 }).compressed,
    ).toBe(true)
  })

  it('counts the rest of the message as well', () => {
    const windowTokens = 4000
    expect(compress(turns, { windowTokens }).compressed).toBe(false)
    expect(compress(turns, { windowTokens, rest: 'state '.repeat(2000) }).compressed).toBe(true)
  })
})

describe.each([5000, 10_000, 20_000, 50_000])('%i tokens of conversation', (tokens) => {
  const turns = conversation(tokens)
  const windowTokens = Math.floor(tokens / 2)
  const result = compress(turns, { windowTokens })

  it('come under the threshold with a summary', () => {
    expect(result.compressed).toBe(true)
    expect(result.summary).not.toBe('')
    expect(tokensOf(result)).toBeLessThanOrEqual(windowTokens * 0.8)
  })

  it('keep the last five turns word for word', () => {
    expect(result.verbatim).toEqual(turns.slice(-5))
    expect(result.turnsSummarised).toBe(turns.length - 5)
  })

  it.each(PLANTED)('keep %j', (planted) => {
    expect(result.summary).toContain(planted.replace(/\.$/, ''))
  })

  it('give the same result again', () => {
    expect(compress(turns, { windowTokens })).toEqual(result)
  })
})

describe('golden set', () => {
  it.each(golden)('$name keeps everything that is needed downstream', ({ turns, mustKeep }) => {
    const tokens = turns.reduce((sum, turn) => sum + countTokens(JSON.stringify(turn)), 0)
    const result = compress(turns, { windowTokens: Math.floor(tokens * 0.6), verbatimTurns: 3 })
    const kept = [result.summary, ...result.verbatim.map(({ content }) => content)].join('\n')
    expect(result.compressed).toBe(true)
    expect(mustKeep.filter((statement) => !kept.includes(statement))).toEqual([])
  })

  it.each(golden)('$name survives a second compression', ({ turns, mustKeep }) => {
    const once = compress(turns, { windowTokens: 900, verbatimTurns: 2 })
    const talk = conversation(3000).map((turn) => ({ ...turn, content: TALK[0] ?? '' }))
    const twice = compress(
      [...once.verbatim, ...talk],
      { windowTokens: 900, verbatimTurns: 2 },
      once.summary,
    )
    expect(twice.compressed).toBe(true)
    expect(mustKeep.filter((statement) => !twice.summary.includes(statement))).toEqual([])
    expect(twice.summary.match(/Earlier conversation/g)).toHaveLength(1)
  })
})

describe('tight windows', () => {
  it('keep fewer turns verbatim when they alone would fill the window', () => {
    const long = Array.from({ length: 5 }, (_, index) => ({
      role: 'user',
      content: `${index} must hold. `.repeat(200),
    }))
    const result = compress(long, { windowTokens: 2000 })
    expect(result.verbatim.length).toBeLessThan(5)
    expect(tokensOf(result)).toBeLessThanOrEqual(1600)
  })

  it('still say something when the rest of the message fills the window', () => {
    const result = compress(conversation(3000), { windowTokens: 1000, rest: 'state '.repeat(2000) })
    expect(result.summary).toContain('Earlier conversation')
    expect(tokensOf(result)).toBeLessThanOrEqual(128)
  })

  it.each([
    { windowTokens: 0 },
    { windowTokens: Number.NaN },
    { windowTokens: 100, threshold: 0 },
    { windowTokens: 100, threshold: 1.1 },
    { windowTokens: 100, verbatimTurns: -1 },
  ])('are refused when they are none: %j', (options) => {
    expect(() => compress([], options)).toThrow(ProtocolError)
  })

  it('leave a message alone that has no conversation', () => {
    expect(compress([], { windowTokens: 100, rest: 'state '.repeat(200) }).compressed).toBe(false)
  })

  it('never cut a character in two', () => {
    const turns = [{ role: 'user', content: `must ${'😂'.repeat(5000)}` }]
    expect(compress(turns, { windowTokens: 500 }).summary.isWellFormed()).toBe(true)
  })

  it('hold for any conversation', () => {
    const turns = fc.array(
      fc.record({
        role: fc.constantFrom('user', 'assistant', 'tool'),
        content: fc.string({ maxLength: 400 }),
      }),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(turns, fc.integer({ min: 400, max: 2000 }), (some, windowTokens) => {
        expect(tokensOf(compress(some, { windowTokens }))).toBeLessThanOrEqual(windowTokens * 0.8)
      }),
      { numRuns: 50 },
    )
  })
})
