// Whatever is posted to /jsonrpc, and whatever a peer calls itself there: an answer of the protocol, never a 5xx, and no text in a log.
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { canaryText, fuzzMs, fuzzRuns, holdsAgainst, watchLog } from './fuzz.ts'
import { openGateway } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const RUNS = fuzzRuns(150)
const folder = mkdtempSync(join(tmpdir(), 'baton-session-fuzz-'))
const log = watchLog()
let fixture: GatewayFixture
beforeAll(async () => {
  const path = join(folder, 'peers.json')
  const inboundSha256 = hash('sha256', 'fuzz-token')
  const peer = { name: 'fuzz', inboundSha256, sendsTo: 'coder', limits: { contextsMax: 1000 } }
  writeFileSync(path, JSON.stringify({ peers: [peer] }))
  fixture = await openGateway({}, { logger: log.logger, session: { peersPath: path, waitMs: 0 } })
})
afterAll(async () => {
  await fixture.close()
  rmSync(folder, { recursive: true })
})

const text = fc.oneof(
  canaryText,
  fc.constantFrom(
    'TASK DISPATCH (inline)\n\nBrief: x',
    'TASK DISPATCH (inline)\npriority: \n',
    '[A2A HANDSHAKE v1]',
  ),
  fc
    .record(
      {
        type: fc.constantFrom('TASK_DISPATCH', 'SESSION_ANNOUNCE', 'TASK_RESULT'),
        protocol_version: fc.constantFrom('2.0', '9.9'),
        task: fc.oneof(
          fc.jsonValue(),
          fc.record(
            {
              task_id: fc.string({ minLength: 1, maxLength: 300 }),
              priority: fc.constantFrom('low', 'x'),
            },
            { requiredKeys: [] },
          ),
        ),
        worker: fc.jsonValue(),
        brief: fc.oneof(fc.jsonValue(), canaryText),
        deadline: fc.constantFrom(null, '2026-01-01T00:00:00Z', 'x'),
      },
      { requiredKeys: ['type'] },
    )
    .map((value) => JSON.stringify(value)),
)
const call = fc.record({
  jsonrpc: fc.constantFrom('2.0', '1.0'),
  id: fc.jsonValue(),
  method: fc.constantFrom('SendMessage', 'message/send', 'x'),
  params: fc.oneof(
    fc.jsonValue(),
    fc.record({
      message: fc.record(
        {
          role: fc.constantFrom('user', 'agent'),
          parts: fc.array(fc.record({ text }), { maxLength: 3 }),
          contextId: fc.string({ maxLength: 300, unit: 'binary' }),
        },
        { requiredKeys: ['parts'] },
      ),
    }),
  ),
})
const body = fc.oneof(
  { weight: 4, arbitrary: call.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
)

const CODES = [undefined, -32700, -32600, -32601, -32602, -32000, -32001]

it(
  'S22 answers every body with a result or an error of JSON-RPC',
  async () => {
    const seen = new Set<number | undefined>()
    await holdsAgainst({
      inputs: body,
      runs: RUNS,
      pool: fixture.pool,
      log,
      async ask(payload) {
        const response = await fixture.gateway.server.inject({
          method: 'POST',
          url: '/jsonrpc',
          headers: { authorization: 'Bearer fuzz-token', 'content-type': 'application/json' },
          payload,
        })
        expect(response.statusCode).toBe(200)
        const answer = response.json<{ jsonrpc: string; error?: { code: number } }>()
        expect(answer.jsonrpc).toBe('2.0')
        expect(CODES).toContain(answer.error?.code)
        seen.add(answer.error?.code)
      },
    })
    expect([...seen]).toEqual(expect.arrayContaining([undefined, -32700, -32600, -32601, -32602]))
  },
  fuzzMs(RUNS),
)
