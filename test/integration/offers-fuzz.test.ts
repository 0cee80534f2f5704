// Whatever stands in a folder of v0.1 handoffs: it is imported into a live gateway, refused in words or left alone; nothing else is changed.
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOffers, importOffers, openFolder } from '@baton/offers'
import type { BatonHandoff, ImportGateway, Offers } from '@baton/offers'
import { codeOf } from '@baton/runtime'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { canaryText, fuzzMs, fuzzRuns, holdsAgainst, watchLog } from './fuzz.ts'
import { get, keys, openGateway, post } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const RUNS = fuzzRuns(200)
const folder = mkdtempSync(join(tmpdir(), 'baton-offers-fuzz-'))
const offers = createOffers({ storage: openFolder(folder) })
const log = watchLog()
let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway({}, { logger: log.logger })
})
afterAll(async () => {
  await fixture.close()
  rmSync(folder, { recursive: true })
})

/** As the command sends; nothing but a refusal of the message itself is an answer. */
const gateway: ImportGateway = {
  async send(submission) {
    const headers = { 'idempotency-key': submission.agentState.handoffId ?? '' }
    const response = await post(fixture.gateway, submission, { key: keys.operator.key, headers })
    if (response.statusCode < 300) return {}
    expect([400, 413, 422]).toContain(response.statusCode)
    return { refused: response.json().code }
  },
  async find(handoffId) {
    const response = await get(fixture.gateway, `/v2/handoffs/${handoffId}`)
    expect(response.statusCode).toBe(200)
    return response.json<BatonHandoff>()
  },
}

const TIMES = ['2026-02-18T14:55:00.123456+00:00', '2026-02-18T14:55:00', '2026-02-18', '']
const some = <Value>(usual: fc.Arbitrary<Value>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: fc.jsonValue() })
const NAMES = [
  'priority',
  'deadline',
  'tags',
  'traceparent',
  'data_subjects',
  'parent_task_id',
  'description',
  '__proto__',
]
const context = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom(...NAMES)),
  fc.oneof(
    canaryText,
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>(0, 'high', TIMES[0], ['s1'], ['s1', 's2']),
  ),
  { noNullPrototype: true, maxKeys: 6 },
)
const handoff = fc
  .record(
    {
      task_id: fc.oneof(
        { weight: 20, arbitrary: fc.uuid() },
        {
          weight: 1,
          arbitrary: fc.oneof(canaryText, fc.string({ unit: 'binary' }), fc.jsonValue()),
        },
      ),
      from_agent: some(canaryText),
      to_agent: some(fc.constantFrom('reviewer', 'reviewer', 'reviewer', '', 'nobody')),
      status: some(
        fc.constantFrom('offered', 'offered', 'accepted', 'failed', 'completed', 'rejected'),
      ),
      description: some(canaryText),
      context: some(fc.option(context)),
      created_at: some(fc.constantFrom(...TIMES.slice(0, 2))),
      updated_at: some(fc.constantFrom(...TIMES.slice(0, 2))),
      x_more: fc.jsonValue(),
    },
    { requiredKeys: ['task_id', 'status'] },
  )
  .map((value) => JSON.stringify(value))
const bytes = fc.oneof(
  { weight: 8, arbitrary: handoff.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array)) },
)
const calls = fc.array(fc.constantFrom('accept', 'complete', 'reject', 'fail', 'reoffer'), {
  maxLength: 3,
})

const CALL: Readonly<Record<string, (id: string) => ReturnType<Offers['completeHandoff']>>> = {
  accept: (id) => offers.acceptHandoff(id, 'reviewer'),
  complete: (id) => offers.completeHandoff(id, { context: { result: 'done' } }),
  reject: (id) => offers.rejectHandoff(id),
  fail: (id) => offers.failHandoff(id, { agent: 'reviewer' }),
  reoffer: (id) => offers.reofferHandoff(id),
}

it(
  'P05 P14 P19 takes, refuses or leaves alone whatever the file holds',
  async () => {
    const seen = new Map<string, number>()
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
    await holdsAgainst({
      inputs: fc.tuple(bytes, calls),
      runs: RUNS,
      pool: fixture.pool,
      log,
      async ask([given, steps]) {
        const name = nameOf(given)
        const file = join(folder, name)
        await writeFile(file, given)
        const { handoffs, foreign } = await offers.listHandoffs()
        expect(handoffs.length + foreign.length).toBe(1)
        for (const { reason } of foreign) expect(reason).toMatch(/^(?:is|has) [a-zA-Z0-9_ ,.-]+$/)
        const agentTypes = new Set(['reviewer'])
        const done = await importOffers({ offers, gateway, agentTypes, budgetUSD: 1 })
        for (const { kind, what } of done) count(kind === 'problem' ? what : kind)
        const [known] = handoffs
        const left = done.length === 0 ? await readFile(file) : given
        expect(left).toEqual(given)
        for (const step of steps) {
          const id = known?.task_id ?? 'one'
          count((await CALL[step]?.(id).then(() => step, codeOf)) ?? '')
        }
        expectOnlyItsOwnChanged(given.toString(), await readFile(file, 'utf8'), known !== undefined)
        expect((await readdir(folder)).filter((name) => name.endsWith('.json'))).toEqual([name])
        await rm(file)
      },
    })
    const problems = [...seen.keys()].filter((what) => what.startsWith('BATON_'))
    for (const code of problems) expect(code).toMatch(/^BATON_(?:OFFER|HANDOFF|PARENT)_/)
    expect(Object.fromEntries(seen)).toMatchObject({
      sent: expect.any(Number),
      written: expect.any(Number),
      BATON_OFFER_STATUS: expect.any(Number),
    })
  },
  fuzzMs(RUNS),
)

/** Most are named after their ids, as peers name them. */
function nameOf(given: Buffer): string {
  const id = /"task_id":"([0-9a-f-]{36})"/.exec(given.toString())?.[1]
  return `${id ?? 'one'}.json`
}

/** What others wrote survives: a step changes the status, the time and the context, and adds to the last only. */
function expectOnlyItsOwnChanged(before: string, after: string, isHandoff: boolean): void {
  expect(isHandoff ? '' : after).toBe(isHandoff ? '' : before)
  const [was, is] = isHandoff ? [JSON.parse(before), JSON.parse(after)] : [{}, {}]
  const { status, updated_at, context: noted } = is
  expect(is).toEqual({
    ...was,
    status,
    updated_at,
    ...(noted === undefined ? {} : { context: noted }),
  })
  expect({ ...noted, ...OWN }).toEqual(expect.objectContaining({ ...was.context, ...OWN }))
}

/** What Baton and the calls themselves write into a context, whatever stood there. */
const OWN = Object.fromEntries(
  [
    'accepted_by',
    'result',
    'reason',
    'baton_handoff_id',
    'baton_earlier_handoff_id',
    'traceparent',
  ].map((name) => [name, null]),
)
