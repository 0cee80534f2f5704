// A log line carries ids and codes. What a driver or an agent says in a message never reaches it.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transient } from './errors.ts'
import { createLogger } from './logger.ts'

function recorded() {
  const lines: string[] = []
  const logger = createLogger({
    service: 'test',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  })
  return { logger, lines }
}

const CANARY = 'canary-7f3a'
const driverError = (message: string) =>
  Object.assign(new Error(message), { code: '23505', detail: message, table: CANARY })

describe('the logger', () => {
  it('reduces an error to its class, code and frames, also through causes', () => {
    const { logger, lines } = recorded()
    const error = transient('BATON_DATABASE_UNAVAILABLE', 'the database did not answer', {
      cause: driverError(`Key (body)=(${CANARY}) exists`),
    })
    logger.error({ event: 'relay.failed', error })
    const line = JSON.parse(lines[0] ?? '') as { error: Record<string, unknown>; level: string }
    expect(line).toMatchObject({
      level: 'error',
      service: 'test',
      event: 'relay.failed',
      error: {
        code: 'BATON_DATABASE_UNAVAILABLE',
        kind: 'transient',
        message: 'the database did not answer',
        cause: { code: '23505' },
      },
    })
    expect(lines.join('')).not.toContain(CANARY)
  })

  it.each([
    ['as the first argument', (error: Error) => [error]],
    ['under err', (error: Error) => [{ err: error }]],
    ['under error with words', (error: Error) => [{ error }, 'words']],
  ] as const)('never prints a driver message given %s', (_, argumentsOf) => {
    const { logger, lines } = recorded()
    const [first, ...rest] = argumentsOf(driverError(CANARY))
    logger.warn(first as object, ...(rest as []))
    expect(lines).toHaveLength(1)
    expect(lines.join('')).not.toContain(CANARY)
    expect(lines.join('')).toContain('23505')
  })

  it('prints no part of any message, not even one that looks like a stack frame', () => {
    const hostile = fc.constantFrom('\n    at ', ' ', '\n', '\r\n  at x (', '\u2028')
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 4 }), fc.string(), (parts, word) => {
        const { logger, lines } = recorded()
        logger.error({ error: driverError(`${word}${parts.join('x')}${CANARY}`) })
        expect(lines.join('')).not.toContain(CANARY)
      }),
    )
  })

  it('takes something thrown that is no error', () => {
    const { logger, lines } = recorded()
    logger.error({ error: CANARY })
    expect(lines.join('')).not.toContain(CANARY)
  })
})
