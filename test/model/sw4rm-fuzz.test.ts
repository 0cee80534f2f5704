// Any context and any request of SW4RM: read and written as the installed Python does, and a valid handoff or a refusal in words.
import { spawnSync } from 'node:child_process'
import { buildHandoffMessage } from '@baton/protocol'
import {
  deserializeContext,
  fromHandoff,
  handoffRequest,
  serializeContext,
  toHandoff,
} from '@baton/protocol/dialects/sw4rm'
import fc from 'fast-check'
import { expect, it } from 'vitest'

interface Answer {
  readonly error?: string
  readonly ascii?: string
  readonly utf8?: string
}

const PEER = new URL('../../packages/protocol/fixtures/sw4rm/peer.py', import.meta.url).pathname
const FUZZ_RUNS = Number(process.env['BATON_TEST_FUZZ'] ?? 1000)
const NOT_JSON =
  'Failed to serialize HandoffContext: Out of range float values are not JSON compliant'

const attempt = (work: () => Uint8Array): string => {
  try {
    return Buffer.from(work()).toString('base64')
  } catch (error) {
    return (error as Error).message
  }
}

/** What Baton makes of the bytes, in the form in which the peer answers. */
function answerOf(bytes: Uint8Array): Answer {
  try {
    const context = deserializeContext(bytes, { mode: 'lenient' })
    return {
      ascii: attempt(() => serializeContext(context)),
      utf8: attempt(() => serializeContext(context, { ensureAscii: false })),
    }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

/** The peer writes NaN and Infinity; Baton refuses to. */
function expected({ error, ascii, utf8 }: Answer): Answer {
  if (error !== undefined) return { error }
  const text = Buffer.from(ascii ?? '', 'base64').toString()
  return /(?:^|[[,:])(?:NaN|-?Infinity)/.test(text)
    ? { ascii: NOT_JSON, utf8: NOT_JSON }
    : ({ ascii, utf8 } as Answer)
}

const strings = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\u007f', '\u2028', 'ü', '"\\/', '\u0000'),
)
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      'null',
      'true',
      'false',
      'NaN',
      '-Infinity',
      '1.0',
      '-0',
      '-0.0',
      '1e16',
      '1E-7',
    ),
    fc.double().map((value) => String(value)),
    fc.bigInt().map(String),
    strings.map((text) => JSON.stringify(text)),
    strings.map((text) => `"${text.replaceAll(/["\\]|[^ -\uffff]/g, '')}"`),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
    fc
      .array(fc.tuple(strings, tie('value')), { maxLength: 4 })
      .map(
        (members) =>
          `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',\n')}}`,
      ),
  ),
})).value

const whole = fc
  .tuple(jsonText, jsonText, jsonText)
  .map(
    ([history, tools, metadata]) =>
      `{"conversation_history":${history},"tool_state":${tools},"metadata":${metadata}}`,
  )

/** Whole contexts, and such with some bytes changed. */
const documents: fc.Arbitrary<Uint8Array> = fc.oneof(
  whole.map((text) => Buffer.from(text)),
  fc.tuple(whole, fc.nat(), fc.uint8Array({ maxLength: 3 })).map(([text, place, bytes]) => {
    const changed = Buffer.from(text)
    const start = place % changed.length
    return Buffer.concat([changed.subarray(0, start), bytes, changed.subarray(start + 1)])
  }),
)

const python = spawnSync('python3', ['--version'], { encoding: 'utf8' }).stdout?.trim()
const asRecorded = python?.startsWith('Python 3.11.') === true

it.skipIf(python === undefined)(
  'W05 as the Python that is installed here (skipped where none is)',
  () => {
    const sources = fc.sample(documents, FUZZ_RUNS)
    const lines = sources.map((bytes) => Buffer.from(bytes).toString('base64'))
    const { stdout } = spawnSync('python3', [PEER, 'answer'], {
      input: `${lines.join('\n')}\n`,
      encoding: 'utf8',
      maxBuffer: 1 << 30,
      timeout: 240_000,
    })
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Answer)
    expect(answers).toHaveLength(sources.length)
    for (const [index, bytes] of sources.entries()) {
      const own = answerOf(bytes)
      const peer = expected(answers[index] ?? {})
      // The words of refusals differ between the versions of Python.
      const seen = asRecorded || own.error === undefined ? own : { error: peer.error }
      expect({ source: lines[index], ...seen }).toEqual({ source: lines[index], ...peer })
    }
  },
)

const OPTIONS = { nowMs: Date.UTC(2026, 0, 1), salt: Buffer.alloc(32, 1), budgetUSD: 1 }

function messageOf(changes: {
  readonly requestId: string
  readonly preserveHistory: boolean
  readonly contextSnapshot: Uint8Array
}) {
  const asked = handoffRequest({ fromAgent: 'a', toAgent: 'b', reason: 'c', ...changes })
  const { agentState, targetAgentType, constraints } = toHandoff(asked, OPTIONS)
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  return buildHandoffMessage({ ...agentState, traceparent }, targetAgentType, constraints)
}

const value = fc.jsonValue({ maxDepth: 3 })
const contexts = fc.record(
  {
    conversation_history: fc.oneof(
      fc.array(
        fc.dictionary(
          fc.constantFrom('role', 'content', 'timestamp', 'name', 'tool_call_id', 'metadata', 'x'),
          value,
        ),
      ),
      value,
    ),
    tool_state: fc.oneof(fc.dictionary(fc.string(), value), value),
    metadata: fc.oneof(
      fc.record({ task_id: fc.string(), data_subjects: fc.array(value) }, { requiredKeys: [] }),
      value,
    ),
  },
  { requiredKeys: [] },
)

it('W03 W04 with a readable context becomes a valid handoff, or is refused in words', () => {
  const refusals = new Set(['Sw4rmError', 'ProtocolError'])
  expect(() =>
    fc.assert(
      fc.property(
        contexts,
        fc.string({ minLength: 1 }),
        fc.boolean(),
        (parts, requestId, preserveHistory) => {
          const bytes = Buffer.from(JSON.stringify(parts))
          try {
            const message = messageOf({ requestId, preserveHistory, contextSnapshot: bytes })
            const back = fromHandoff(message)
            return !preserveHistory || Buffer.from(back.contextSnapshot ?? []).equals(bytes)
          } catch (error) {
            return refusals.has((error as Error).name)
          }
        },
      ),
      { numRuns: FUZZ_RUNS },
    ),
  ).not.toThrow()
})
