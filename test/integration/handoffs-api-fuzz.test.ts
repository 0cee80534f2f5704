// Any request to the Handoffs API: a message, or a refusal with its reason; never a failure, a wait, or a word in the log.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { GatewayFixture } from './gateway-fixture.ts'
import { ask, example, MEMBERS, openHandoffsApi } from './handoffs-api-fixture.ts'
import type { Asking, Message } from './handoffs-api-fixture.ts'

const RUNS = Number(process.env['BATON_TEST_FUZZ'] ?? 300)
const ANSWER_MAX_MS = 5_000
/** Stands in every text that is sent, and may not stand in a log. */
const CANARY = 'zqxcanary'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openHandoffsApi()
})
afterAll(() => fixture.close())

const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('', '\0', '__proto__', '../..', '%00', "'; drop table handoff; --"),
  )
  .map((words) => `${CANARY}${words}`)
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 3 }), fc.double())
const profile = fc.constantFrom(
  'analyst-agent',
  'reviewer-agent',
  'guarded',
  'choosy',
  'nobody',
  ' ',
)
const known: string[] = ['00000000-0000-4000-8000-000000000000']
const id = fc.oneof(
  fc.nat().map((index) => known[index % known.length] ?? ''),
  fc.uuid(),
  text,
)
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: value })
const member = {
  fromProfileId: mostly(fc.constant('analyst-agent')),
  toProfileId: mostly(profile),
  subject: mostly(text),
  body: mostly(text),
  sourceTaskId: mostly(fc.oneof(text, fc.uuid())),
  priority: mostly(fc.integer({ min: -1, max: 4 })),
  requiresApproval: mostly(fc.boolean()),
  parentMessageId: mostly(fc.option(id, { freq: 1 })),
  dataSubjects: mostly(fc.array(fc.uuid(), { maxLength: 3 })),
  attachments: fc.constant(null),
}
const changed = fc.record(member, { requiredKeys: [] })
const bytes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 64 }).map((raw) => Buffer.from(raw)),
  fc.json({ maxDepth: 3 }),
  changed.map((one) => JSON.stringify(example(one)).slice(0, -3)),
)
const creating: fc.Arbitrary<Asking> = fc.record({
  method: fc.constant('POST' as const),
  body: fc.oneof(
    { weight: 8, arbitrary: changed.map((one) => example(one)) },
    { weight: 1, arbitrary: bytes },
  ),
  headers: fc.oneof(
    fc.constant({}),
    text.map((key) => ({ 'idempotency-key': encodeURI(key.toWellFormed()) })),
    text.map((trace) => ({ traceparent: encodeURI(trace.toWellFormed()), tracestate: 'a=b=c' })),
  ),
})
const deciding: fc.Arbitrary<Asking> = fc.record({
  method: fc.constant('PATCH' as const),
  url: id.map((one) => `/api/handoffs/${encodeURIComponent(one.toWellFormed())}`),
  body: fc.oneof(
    fc.record(
      { action: fc.constantFrom('approve', 'reject', 'x'), approvedBy: value },
      { requiredKeys: [] },
    ),
    value,
    bytes,
  ),
})
const query = fc.oneof(text, profile, fc.constantFrom('pending', 'completed', 'done'))
const reading: fc.Arbitrary<Asking> = fc.record({
  url: fc.oneof(
    id.map((one) => `/api/handoffs/${encodeURIComponent(one.toWellFormed())}`),
    fc
      .tuple(fc.constantFrom('status', 'profileId', 'x'), query)
      .map(([name, one]) => `/api/handoffs?${name}=${encodeURIComponent(one.toWellFormed())}`),
    fc
      .tuple(query, fc.constantFrom('inbox', 'sent', 'lost'))
      .map(
        ([one, box]) => `/api/profiles/${encodeURIComponent(one.toWellFormed())}/handoffs/${box}`,
      ),
  ),
})

it(
  'R17 answers whatever is asked',
  async () => {
    const statuses = new Map<number, number>()
    const created: string[][] = []
    await fc.assert(
      fc.asyncProperty(fc.oneof(creating, creating, deciding, reading), async (asking) => {
        const began = performance.now()
        const response = await ask(fixture.gateway, asking)
        expect(performance.now() - began).toBeLessThan(ANSWER_MAX_MS)
        const { statusCode: status } = response
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        expect(status).toBeLessThan(500)
        const answer = response.json<Message & { error?: unknown }>()
        expect(typeof answer.error).toBe(status >= 400 ? 'string' : 'undefined')
        if (status !== 201) return
        created.push(Object.keys(answer))
        known.push(answer.id)
      }),
      { numRuns: RUNS },
    )
    expect(new Set(created.map((members) => members.join()))).toEqual(new Set([MEMBERS.join()]))
    const seen = [...statuses.keys()].toSorted((one, other) => one - other)
    expect(seen).toEqual(expect.arrayContaining([200, 201, 400, 404]))
    expect(fixture.log()).not.toContain(CANARY)
  },
  60_000 + RUNS * 50,
)
