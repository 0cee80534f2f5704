// Any bytes in the place of a v0.1 handoff: read or refused with a reason, changed without losing a thing, sent or refused in words.
import { buildHandoffMessage } from '@baton/protocol'
import {
  changeHandoff,
  offerSubmission,
  readHandoffBytes,
  STATUSES,
  timeAfter,
} from '@baton/protocol/dialects/handoff-v01'
import type { OfferedHandoff } from '@baton/protocol/dialects/handoff-v01'
import fc from 'fast-check'
import { expect, it } from 'vitest'

const FUZZ_RUNS = Number(process.env['BATON_TEST_FUZZ'] ?? 1000)
const TIMES = ['2026-02-18T14:55:00.123456+00:00', '2026-02-18T14:55:00', '2026-02-18', '']

const some = <Value>(usual: fc.Arbitrary<Value>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: fc.jsonValue() })

const context = fc.dictionary(
  fc.oneof(
    fc.string(),
    fc.constantFrom(
      'priority',
      'deadline',
      'tags',
      'traceparent',
      'data_subjects',
      'description',
      '__proto__',
    ),
  ),
  fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(0, 'high', TIMES[0] ?? '', ['s1'], ['s1', 's2']),
  ),
  { noNullPrototype: true },
)

const handoffText = fc
  .record(
    {
      task_id: some(fc.string({ unit: 'binary', minLength: 1, maxLength: 600 })),
      from_agent: some(fc.string()),
      to_agent: some(fc.option(fc.string())),
      status: some(fc.constantFrom(...STATUSES)),
      description: some(fc.string({ unit: 'binary' })),
      context: some(fc.option(context)),
      created_at: some(fc.constantFrom(...TIMES)),
      updated_at: some(fc.constantFrom(...TIMES)),
      x_more: fc.jsonValue(),
    },
    { requiredKeys: ['task_id', 'status'] },
  )
  .map((value) => JSON.stringify(value))

const bytes = fc.oneof(
  { weight: 6, arbitrary: handoffText.map((text) => Buffer.from(text)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(handoffText, fc.nat(), fc.nat(255))
      .map(([text, at, byte]) => damaged(text, at, byte)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array)) },
)

function damaged(text: string, at: number, byte: number): Buffer {
  const whole = Buffer.from(text)
  whole[at % whole.length] = byte
  return whole
}

it('P01 P05 P19 whatever the bytes', { timeout: 1_200_000 }, () => {
  const seen = { taken: 0, refused: 0, built: 0, BATON_HANDOFF_INVALID: 0 }
  fc.assert(
    fc.property(
      bytes,
      fc.constantFrom('strict' as const, 'lenient' as const),
      (given, validation) => {
        const read = readHandoffBytes(given, validation)
        seen[read.ok ? 'taken' : 'refused'] += 1
        expect(read.ok ? 'is read' : read.reason).toMatch(/^(?:is|has) [a-zA-Z0-9_ ,.-]+$/)
        if (!read.ok) return
        const updated_at = timeAfter(read.handoff.updated_at, 0)
        const changed = changeHandoff(given.toString(), { status: 'failed', updated_at })
        const before = JSON.parse(given.toString())
        expect(JSON.parse(changed)).toEqual({ ...before, status: 'failed', updated_at })
        const what = build(read.handoff)
        expect(seen).toHaveProperty(what)
        seen[what] += 1
      },
    ),
    { numRuns: FUZZ_RUNS },
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(FUZZ_RUNS / 100)
})

/** `built`, or the code of the error that says why not. */
function build(handoff: OfferedHandoff): 'built' | 'BATON_HANDOFF_INVALID' {
  const { agentState, targetAgentType, constraints } = offerSubmission(handoff, { budgetUSD: 1 })
  try {
    buildHandoffMessage(agentState, targetAgentType, constraints)
    return 'built'
  } catch (error) {
    return (error as { code: 'BATON_HANDOFF_INVALID' }).code
  }
}
