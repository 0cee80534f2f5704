// Whatever peers write, the session handshake's parsers read it or say why not: no throw, no hang, and what they read they read again.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  findAnnounce,
  readAnnounce,
  readAsked,
  readDispatch,
  readInline,
  readPeers,
  readReply,
  readResult,
  readRpc,
  readRpcReply,
  resultOf,
  writeInline,
} from '@baton/protocol/dialects/session'

const RUNS = Number(process.env['BATON_TEST_FUZZ'] ?? 1_000)
const parameters = { numRuns: RUNS }

const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/)
const brief = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '')
const dispatch = fc.record({
  type: fc.constant('TASK_DISPATCH' as const),
  protocol_version: fc.constantFrom('2.0', '2.1', '2.99'),
  task: fc.record({
    task_id: name,
    priority: fc.constantFrom('low', 'normal', 'high', 'urgent'),
    reply_schema: fc.constantFrom('prose', 'structured', 'json'),
    token_budget: fc.option(fc.integer({ min: 1 })),
  }),
  requirements: fc.record({
    required_mcp: fc.uniqueArray(name, { maxLength: 4 }),
    required_capabilities: fc.uniqueArray(name, { maxLength: 4 }),
  }),
  deadline: fc.constantFrom(null, '2026-05-31T21:00:00Z', '2026-05-31T21:00:00.5+02:00'),
  brief,
})

/** Parts of what the parsers look for, in any order. */
const noise = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '{',
        '}',
        '"',
        '\\',
        '[',
        ']',
        ':',
        ',',
        '\n',
        '```json\n',
        'null',
        '[queued]',
      ),
      fc.constantFrom(
        '"type":"TASK_RESULT"',
        '"task_id":"t"',
        'TASK DISPATCH (inline)\n',
        'Brief:',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.json({ maxDepth: 2 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

it('S01 S08 S13 reads any JSON or says where it is wrong', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        type: fc.constantFrom('SESSION_ANNOUNCE', 'TASK_DISPATCH', 'TASK_RESULT'),
        protocol_version: fc.constant('2.0'),
        worker: fc.jsonValue(),
        task: fc.jsonValue(),
        status: fc.constantFrom('done', 'error', 'partial'),
        task_id: fc.jsonValue(),
        artifacts: fc.jsonValue(),
        mcp_health: fc.jsonValue(),
        session: fc.jsonValue(),
      },
      { requiredKeys: ['type', 'protocol_version'] },
    ),
  )
  fc.assert(
    fc.property(value, (any) => {
      for (const read of [readAnnounce, readDispatch, readResult]) {
        const first = read(any as never)
        expect(first.ok ? '' : first.pointer).toMatch(/^(?:\/|$)/)
        expect(first.ok ? read(first.value as never) : first).toEqual(first)
      }
    }),
    parameters,
  )
})

it('S08 S15 reads every dispatch as it was, as JSON among other text and as a header block', () => {
  fc.assert(
    fc.property(dispatch, (one) => {
      expect(readDispatch(one)).toEqual({ ok: true, value: one })
      expect(readAsked(`Please: ${JSON.stringify(one)} thanks`)).toMatchObject({
        ok: true,
        value: { taskId: one.task.task_id, brief: one.brief },
      })
      const inline = readInline(writeInline(one))
      expect(inline).toMatchObject({
        ok: true,
        value: {
          requiredMcp: one.requirements.required_mcp,
          tokenBudget: one.task.token_budget,
          deadline: one.deadline,
        },
      })
    }),
    parameters,
  )
})

it('S16 S17 never throws, and finds a result behind any text', () => {
  const result = resultOf('t', 'done', { tokens_spent: 1 })
  fc.assert(
    fc.property(noise, fc.constantFrom('prose', 'structured', 'json'), (text, replySchema) => {
      findAnnounce(text)
      readAsked(text)
      const reply = readReply(text, { taskId: 't', replySchema })
      expect(reply.kind === 'result' ? reply.result.task_id : 't').toBe('t')
      const plain = text.replaceAll(/[{}"\\[\]]/g, '')
      expect(
        readReply(`${plain} ${JSON.stringify(result)} ${plain}`, {
          taskId: 't',
          replySchema: 'structured',
        }),
      ).toEqual({ kind: 'result', result })
    }),
    parameters,
  )
})

const CODES = [undefined, -32700, -32600, -32601, -32602]

it('S22 reads any bytes as a request, a reply or a file of peers, or refuses them', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((some) => Buffer.from(some)),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .record({
        jsonrpc: fc.constant('2.0'),
        id: fc.jsonValue(),
        method: fc.constant('SendMessage'),
        params: fc.oneof(
          fc.jsonValue(),
          fc.record({
            message: fc.record({
              role: fc.constantFrom('user', 'agent', 'x'),
              parts: fc.jsonValue(),
              contextId: fc.jsonValue(),
            }),
          }),
        ),
      })
      .map((value) => Buffer.from(JSON.stringify(value))),
    fc
      .record({
        peers: fc.array(
          fc.record({ name, url: fc.jsonValue(), limits: fc.jsonValue() }, { requiredKeys: [] }),
        ),
      })
      .map((value) => Buffer.from(JSON.stringify(value))),
  )
  fc.assert(
    fc.property(bytes, (some) => {
      const request = readRpc(some, 1_048_576)
      expect(CODES).toContain(request.ok ? undefined : request.refusal.code)
      expect(readRpcReply(some, 1_048_576)).toHaveProperty('kind')
      expect(readPeers(some)).toHaveProperty('ok')
    }),
    parameters,
  )
})
