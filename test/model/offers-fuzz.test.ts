// Any bytes in the place of a v0.1 handoff: read or refused with a reason, changed without losing a thing, sent or refused in words.
import { buildHandoffMessage } from '@baton/protocol'
import {
  changeHandoff,
  offerSubmission,
  readHandoffBytes,
  STATUSES,
  timeAfter,
} from '@baton/protocol/dialects/handoff-v01'
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
  const seen = { taken: 0, refused: 0, built: 0, unbuilt: 0 }
  fc.assert(
    fc.property(
      bytes,
      fc.constantFrom('strict' as const, 'lenient' as const),
      (given, validation) => {
        const read = readHandoffBytes(given, validation)
        if (!read.ok) {
          seen.refused += 1
          expect(read.reason).toMatch(/^(?:is|has) [a-zA-Z0-9_ ,.-]+$/)
          return
        }
        seen.taken += 1
        const { handoff } = read
        const updated_at = timeAfter(handoff.updated_at, 0)
        const changed = JSON.parse(
          changeHandoff(given.toString(), { status: 'failed', updated_at }),
        )
        expect(changed).toEqual({ ...JSON.parse(given.toString()), status: 'failed', updated_at })
        const { agentState, targetAgentType, constraints } = offerSubmission(handoff, {
          budgetUSD: 1,
        })
        try {
          buildHandoffMessage(agentState, targetAgentType, constraints)
          seen.built += 1
        } catch (error) {
          seen.unbuilt += 1
          expect(error).toMatchObject({ code: 'BATON_HANDOFF_INVALID' })
        }
      },
    ),
    { numRuns: FUZZ_RUNS },
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(FUZZ_RUNS / 100)
})
