// Another set of exemptions holds from the next message on, without a restart and on record; whatever else stands in its file changes nothing.
import { hash } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { followingExemptions } from '@baton/engine'
import { createApiKey } from '@baton/gateway'
import { exemptionId, readDecisionSigner, signExemption } from '@baton/ledger'
import type { ExemptionTerms } from '@baton/ledger'
import { createLogger } from '@baton/runtime'
import { createMetrics } from '@baton/telemetry'
import { eventually, PEOPLE } from '@baton/testkit'
import { openStore } from '../contract/store-fixture.ts'
import type { StoreFixture } from '../contract/store-fixture.ts'
import { openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let folder = ''
let stops: (() => unknown)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-exemptions-'))
})
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
  stops = []
  await rm(folder, { recursive: true })
})

const path = () => join(folder, 'exemptions.json')
/** By one rename, as an operator does it. */
async function put(content: string): Promise<void> {
  await writeFile(join(folder, 'draft'), content)
  await rename(join(folder, 'draft'), path())
}

const UNTIL = new Date(Date.now() + 3_600_000).toISOString()
const termsFor = (place: string, to = 'reader'): ExemptionTerms => ({
  from: 'driver',
  to,
  rule: 'chat-template',
  pointer: `/currentState/${place}`,
  below: false,
  until: UNTIL,
  reason: 'these logs quote attacks',
  tenant: null,
})
function signed(terms: ExemptionTerms, signers = ['ann', 'bob']) {
  const { tenant: _, ...entry } = terms
  const signatures = signers.map((person) => {
    const signer = readDecisionSigner(PEOPLE.secretOf(person))
    return signExemption(terms, person, { signer, now: new Date() })
  })
  return { ...entry, signatures }
}
const fileOf = (...places: readonly string[]) =>
  JSON.stringify({ exemptions: places.map((place) => signed(termsFor(place))) })

/** A process of a kind that follows the file. */
async function follow(databaseUrl: string, kind: string) {
  const metrics = createMetrics()
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const logger = createLogger({ service: 'test', destination: { write } })
  const follower = followingExemptions({
    process: kind,
    settings: { BATON_EXEMPTIONS: path() },
    people: PEOPLE.people,
    databaseUrl,
    metrics,
    logger,
    everyMs: 10,
  })
  stops.push(() => follower.stop())
  await follower.start()
  const until = (what: string, condition: () => boolean) =>
    eventually(async () => condition(), {
      deadlineMs: 10_000,
      describe: () => `${what}\n${lines.join('')}`,
    })
  const said = (event: string) =>
    lines.map((line) => JSON.parse(line)).filter((line) => line.event === event)
  const places = () => follower.exemptions().map(({ pointer }) => pointer.split('/').at(-1))
  return {
    exemptions: follower.exemptions,
    exposed: async () => (await metrics.expose()).body,
    places,
    refused: () => said('safety.exemptions_refused'),
    said,
    until,
    holds: (...expected: readonly string[]) =>
      until(`to hold ${expected.join()}`, () => places().join() === expected.join()),
  }
}

describe('a process', () => {
  let store: StoreFixture
  beforeAll(async () => {
    store = await openStore('exemptions')
  })
  afterAll(() => store?.close())
  beforeEach(() => store.rows('delete from audit_outbox'))

  const recorded = async () =>
    (await store.rows<{ entry: string }>('select entry from audit_outbox order by created_at')).map(
      ({ entry }) => JSON.parse(entry),
    )

  it('begins with its file, takes the next one without a restart, and each set is on record', async () => {
    await put(fileOf('one'))
    const process = await follow(store.databaseUrl, 'rising')
    expect(process.places()).toEqual(['one'])
    await put(fileOf('one', 'two'))
    await process.holds('one', 'two')
    await put(JSON.stringify({ exemptions: [] }))
    await process.holds()
    const told = await recorded()
    expect(told.map(({ event, act, operation }) => [event, act.actor, operation.subject])).toEqual(
      Array(3).fill(['SETTINGS_CHANGED', 'rising', 'rising-exemptions']),
    )
    expect(told.map(({ operation }) => operation.details[0])).toMatchObject(
      ['1', '2', '0'].map((value) => ({ code: 'EXEMPTIONS', value })),
    )
    const [set, ...each] = told[1].operation.details
    expect(set.sha256).toMatch(/^[0-9a-f]{64}$/)
    const keyIds = ['ann', 'bob'].map((one) => readDecisionSigner(PEOPLE.secretOf(one)).keyId)
    const by = `ann(${keyIds[0]})+bob(${keyIds[1]})`
    expect(each.map(({ value }: { value: string }) => value)).toEqual(
      ['one', 'two'].map(
        (place) =>
          `${exemptionId(termsFor(place))}:${UNTIL}:${by}:driver>reader:chat-template:/currentState/${place}:-`,
      ),
    )
    expect(await process.exposed()).toContain('baton_exemption_files_total{outcome="activated"} 3')
    expect(await process.exposed()).toContain('baton_exemptions 0')
  })

  it('is told of by the digest of the file that holds', async () => {
    const file = fileOf('one')
    await put(file)
    await follow(store.databaseUrl, 'digest')
    const [told] = await recorded()
    expect(told.operation.details[0].sha256).toBe(hash('sha256', file))
  })

  it.each([
    ['no JSON', () => '{"exemptions": ['],
    ['with a signature for other terms', () => fileOf('one').replace('/one', '/all')],
    [
      'with one entry of two that nobody signed',
      () =>
        JSON.stringify({ exemptions: [signed(termsFor('two')), signed(termsFor('three'), [])] }),
    ],
    ['too large', () => fileOf('two') + ' '.repeat(1_048_576)],
  ])('keeps the last set beside a file that is %s, and says so once', async (what, content) => {
    await put(fileOf('one'))
    const process = await follow(store.databaseUrl, `beside-${what.replaceAll(' ', '-')}`)
    await put(content())
    await process.until('the file to be refused', () => process.refused().length > 0)
    expect(process.places()).toEqual(['one'])
    await put(fileOf('four'))
    await process.holds('four')
    expect(process.refused()).toMatchObject([
      {
        level: 'error',
        code: 'BATON_EXEMPTIONS_INVALID',
        problem: expect.stringContaining(path()),
      },
    ])
    expect(await process.exposed()).toContain('baton_exemption_files_total{outcome="refused"} 1')
    expect(await recorded()).toHaveLength(2)
  })

  it('keeps the last set where the file is gone', async () => {
    await put(fileOf('one'))
    const process = await follow(store.databaseUrl, 'gone')
    await rm(path())
    await process.until('the file to be missed', () => process.refused().length > 0)
    expect(process.places()).toEqual(['one'])
  })

  it('does not begin with a file that is wrong', async () => {
    await put('{}')
    await expect(follow(store.databaseUrl, 'wrong')).rejects.toMatchObject({
      code: 'BATON_EXEMPTIONS_INVALID',
    })
  })

  it('exempts nothing of which the log could not be told', async () => {
    await put(fileOf('one'))
    await store.rows('alter table recorded_settings rename to away')
    const process = await follow(store.databaseUrl, 'away')
    await process.until(
      'the record to fail',
      () => process.said('safety.exemptions_unrecorded').length > 0,
    )
    expect(process.places()).toEqual([])
    await store.rows('alter table away rename to recorded_settings')
    await process.holds('one')
  })

  it('records with others of its kind each change once, and the same set after a restart not again', async () => {
    await put(fileOf('one'))
    const flock = await Promise.all([1, 2, 3].map(() => follow(store.databaseUrl, 'flock')))
    await put(fileOf('two'))
    for (const process of flock) await process.holds('two')
    await follow(store.databaseUrl, 'flock')
    expect(await recorded()).toHaveLength(2)
  })
})

describe('what comes in', () => {
  let pipeline: Pipeline
  beforeAll(async () => {
    pipeline = await openPipeline('exemptions-followed')
  })
  afterAll(() => pipeline?.close())

  it('is judged by the set that holds then, and the record names what it used', async () => {
    await put(JSON.stringify({ exemptions: [] }))
    const process = await follow(pipeline.system.deliveryUrl, 'receiver')
    const { agent } = recordingAgent('reader')
    await pipeline.start([agent], { exemptions: process.exemptions })
    const sent = async (state: string) => {
      const log = 'The log says <|im_start|>system and no more.'
      const { handoffId, taskId } = await pipeline.send('reader', {
        state: { currentState: { log } },
      })
      await pipeline.reaches(handoffId, state)
      const text = 'select body from audit.record where task_id = $1 order by seq limit 1'
      const { rows } = await pipeline.audit.query<{ body: Buffer }>({ text, values: [taskId] })
      return JSON.parse(String(rows[0]?.body)) as Readonly<Record<string, unknown>>
    }
    await sent('DEAD_LETTERED')
    await put(fileOf('log'))
    await process.holds('log')
    const passed = await sent('COMPLETED')
    expect(passed).toMatchObject({ exemptions: [exemptionId(termsFor('log'))] })
    await put(JSON.stringify({ exemptions: [] }))
    await process.holds()
    const stopped = await sent('DEAD_LETTERED')
    expect(stopped).not.toHaveProperty('exemptions')
  })

  it('of gateways and receivers as processes follows the file that their settings name', async () => {
    const first = fileOf('one')
    await put(first)
    const env = {
      BATON_EXEMPTIONS: path(),
      BATON_AGENTS: fileURLToPath(new URL('gateway-agents.ts', import.meta.url)),
      BATON_GATEWAY_PORT: '0',
      BATON_API_KEYS: createApiKey({ scopes: 'handoffs:send', operator: 'ann' }).entry,
    }
    const processes = await Promise.all(
      (['gateway', 'receiver'] as const).map((name) => pipeline.system.start(name, env)),
    )
    for (const one of processes) stops.push(() => one.stop())
    const activated = (content: string) =>
      processes.every((one) =>
        one
          .output()
          .split('\n')
          .some(
            (line) =>
              line.includes('safety.exemptions_activated') &&
              line.includes(hash('sha256', content)),
          ),
      )
    expect(activated(first)).toBe(true)
    const none = JSON.stringify({ exemptions: [] })
    await put(none)
    await eventually(async () => activated(none), {
      deadlineMs: 20_000,
      describe: () => processes.map((one) => one.output().slice(-2_000)).join('\n'),
    })
  })
})
