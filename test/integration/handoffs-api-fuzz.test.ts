// Any request to the Handoffs API: a message, or a refusal with its reason; never a failure, a wait, or a word in the log.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { canaryText, fuzzMs, fuzzRuns, holdsAgainst, watchLog } from './fuzz.ts'
import type { GatewayFixture } from './gateway-fixture.ts'
import { ask, example, MEMBERS, openHandoffsApi } from './handoffs-api-fixture.ts'
import type { Asking, Message } from './handoffs-api-fixture.ts'

const RUNS = fuzzRuns(300)

const log = watchLog()
let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openHandoffsApi({}, log.logger)
})
afterAll(() => fixture.close())

const value = fc.oneof(canaryText, fc.jsonValue({ maxDepth: 3 }), fc.double())
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
  canaryText,
)
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: value })
const member = {
  fromProfileId: mostly(fc.constant('analyst-agent')),
  toProfileId: mostly(profile),
  subject: mostly(canaryText),
  body: mostly(canaryText),
  sourceTaskId: mostly(fc.oneof(canaryText, fc.uuid())),
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
    canaryText.map((key) => ({ 'idempotency-key': encodeURI(key.toWellFormed()) })),
    canaryText.map((trace) => ({
      traceparent: encodeURI(trace.toWellFormed()),
      tracestate: 'a=b=c',
    })),
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
const query = fc.oneof(canaryText, profile, fc.constantFrom('pending', 'completed', 'done'))
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
    const shapes = new Set<string>()
    await holdsAgainst({
      inputs: fc.oneof(creating, creating, deciding, reading),
      runs: RUNS,
      pool: fixture.pool,
      log,
      async ask(asking) {
        const response = await ask(fixture.gateway, asking)
        const { statusCode: status } = response
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        expect(status).toBeLessThan(500)
        const answer = response.json<Message & { error?: unknown }>()
        expect(typeof answer.error).toBe(status >= 400 ? 'string' : 'undefined')
        if (status !== 201) return
        shapes.add(Object.keys(answer).join())
        known.push(answer.id)
      },
    })
    expect([...shapes]).toEqual([MEMBERS.join()])
    const seen = [...statuses.keys()].toSorted((one, other) => one - other)
    expect(seen).toEqual(expect.arrayContaining([200, 201, 400, 404]))
  },
  fuzzMs(RUNS),
)
