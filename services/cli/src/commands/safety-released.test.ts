// `safety released` gives a line for each finding that reviewers did not agree with, and its text only where asked for.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Context } from '../context.ts'
import { createOutput } from '../terminal/output.ts'
import { safetyReleased } from './safety-released.ts'

const KEPT = '7f3c91de-0000-4000-8000-000000000001'
const ERASED = '8f3c91de-0000-4000-8000-000000000001'
const RELEASED_AT = '2026-11-20T10:00:00.000Z'
const RULESET = 'ab'.repeat(32)
const found = { rule: 'override', pointer: '/currentState/note', span: [4, 10], view: 'raw' }
const released = (handoffId: string) => ({
  handoffId,
  resolvedAt: RELEASED_AT,
  artefactId: RULESET,
  details: [
    found,
    { ...found, pointer: '/currentState/a longer note' },
    { rule: 'SCAN_INCOMPLETE', pointer: '', span: [0, 0], view: 'raw' },
  ],
})

let asked: string[] = []
beforeEach(() => {
  asked = []
})

const gateway = createServer(({ url = '' }, response) => {
  asked.push(url)
  response.setHeader('content-type', 'application/json')
  if (url.includes(ERASED)) {
    response.statusCode = 404
    response.setHeader('content-type', 'application/problem+json')
    response.end(
      JSON.stringify({ code: 'BATON_DEAD_LETTER_UNKNOWN', detail: 'none', fix: 'Look.' }),
    )
  } else if (url.includes('/message'))
    response.end(
      JSON.stringify({
        message: {
          currentState: { note: 'The orders of March.', 'a longer note': 'A key as long.' },
        },
      }),
    )
  else {
    const deadLetters = url.includes('since') ? [] : [KEPT, ERASED].map(released)
    const isCut = url.includes('limit=2')
    const total = isCut ? 3 : deadLetters.length
    const nextCursor = isCut ? 'bmV4dA' : null
    response.end(JSON.stringify({ deadLetters, nextCursor, total, totalIsExact: true }))
  }
})
beforeAll(() => new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => gateway.close(resolve)))

async function list(options: { since?: string; limit?: number; text?: boolean; json?: boolean }) {
  const { json = false, limit = 10, text = false, since } = options
  const written = { out: '', err: '' }
  const output = createOutput(
    {
      stdout: { write: (line: string | Uint8Array) => (written.out += String(line)) },
      stderr: { write: (line: string) => (written.err += line) },
    },
    json,
  )
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  const settings = { BATON_GATEWAY_URL: url, BATON_API_KEY: 'key' }
  const context = { output, settings } as unknown as Context
  const exitCode = await safetyReleased(context, { since, flags: { limit }, text })
  expect(exitCode).toBe(0)
  return written
}

const linesOf = (out: string): unknown[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

const LINE = { handoffId: KEPT, releasedAt: RELEASED_AT, rulesetVersion: RULESET, ...found }

describe('safety released', () => {
  it('says rule, place, form and ruleset version, and reads no message', async () => {
    const { out } = await list({ json: true })
    const lines = linesOf(out)
    expect(lines).toHaveLength(6)
    expect(lines[0]).toEqual(LINE)
    expect(asked).toEqual(['/v2/dead-letters/released?limit=10'])
    expect((await list({})).out).toMatch(
      /7f3c91de +.*override +\/currentState\/note +4-10 +raw +abab/,
    )
  })

  it('adds the text under the span where asked for, and null where there is none', async () => {
    const { out } = await list({ json: true, text: true })
    expect(linesOf(out)).toMatchObject([
      { ...LINE, text: 'orders' },
      // A key of several words and its value are both long enough.
      { pointer: '/currentState/a longer note', text: null },
      { rule: 'SCAN_INCOMPLETE', text: null },
      ...[1, 2, 3].map(() => ({ handoffId: ERASED, text: null })),
    ])
  })

  it('goes on where the list was cut, and says where there is nothing', async () => {
    const { err } = await list({ limit: 2 })
    expect(err).toMatch(/^2 of 3 shown; next: .* safety released --limit 2 --cursor bmV4dA$/m)
    const none = await list({ since: RELEASED_AT })
    expect(none.out).toBe('')
    expect(none.err).toContain('Nobody released')
    expect(asked.at(-1)).toContain('since=2026-11-20T10%3A00%3A00.000Z')
  })
})
