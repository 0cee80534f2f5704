// Another model judges from the next message on, in the process and in its threads, on record; whatever else stands in its file changes nothing.
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createActiveScanner, followingArtefact, scannerOf, signArtefact } from '@baton/engine'
import { createApiKey } from '@baton/gateway'
import { createNoteSigner, formatVerifierKey } from '@baton/ledger'
import type { NoteSigner } from '@baton/ledger'
import { createLogger } from '@baton/runtime'
import { createScanner, EMBEDDED_MODEL } from '@baton/safety'
import type { Model } from '@baton/safety'
import { createMetrics } from '@baton/telemetry'
import { eventually } from '@baton/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../contract/store-fixture.ts'
import type { StoreFixture } from '../contract/store-fixture.ts'
import { MILDER, textForModelAlone } from './model-alone.ts'
import { openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const signer = (name: string): NoteSigner => {
  const { privateKey } = generateKeyPairSync('ed25519')
  return createNoteSigner({
    name,
    pkcs8: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  })
}
const ANN = signer('ann')
const EVE = signer('eve')
const OWN = createScanner().rulesetVersion
const MILDEST: Model = { ...MILDER, rejectAt: MILDER.rejectAt - 1 }
const rulesetOf = (model: Model): string => scannerOf(model).rulesetVersion
const PERSONA = textForModelAlone()
const decisionOf = (scanner: ReturnType<typeof createActiveScanner>) =>
  scanner.scan({ currentState: { note: PERSONA } }).decision

/** A module with an agent, for a process of its own. */
const AGENTS = fileURLToPath(new URL('gateway-agents.ts', import.meta.url))

let folder = ''
let stops: (() => unknown)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-artefact-'))
})
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
  stops = []
  await rm(folder, { recursive: true })
})

const path = () => join(folder, 'artefact')
/** By one rename, as an operator does it. */
async function put(content: string): Promise<void> {
  await writeFile(join(folder, 'draft'), content)
  await rename(join(folder, 'draft'), path())
}
const artefact = (version: number, model: Model, by: NoteSigner = ANN): string =>
  signArtefact({ version, model }, by)

/** A process of a kind that follows the file. */
async function follow(databaseUrl: string, kind: string) {
  const metrics = createMetrics()
  const scanner = createActiveScanner()
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const logger = createLogger({ service: 'test', destination: { write } })
  const settings = {
    BATON_SAFETY_ARTEFACT_FILE: path(),
    BATON_SAFETY_SHADOW_FILE: undefined,
    BATON_SAFETY_KEYS: formatVerifierKey(ANN.key),
  }
  const parts = { process: kind, scanner, settings, databaseUrl, metrics, logger, everyMs: 10 }
  const follower = followingArtefact(parts)
  stops.push(() => follower.stop())
  await follower.start()
  const until = (describeIt: string, condition: () => unknown) =>
    eventually(async () => Boolean(await condition()), {
      deadlineMs: 10_000,
      describe: () => `${describeIt}\n${lines.join('')}`,
    })
  return {
    scanner,
    exposed: async () => (await metrics.expose()).body,
    /** The codes of what was refused, in their order. */
    refused: () =>
      lines
        .map((line) => JSON.parse(line))
        .filter(({ event }) => event === 'safety.artefact_refused')
        .map(({ code }) => code),
    lines,
    until,
    judgesBy: (version: string) =>
      until(`to judge by ${version}`, () => scanner.rulesetVersion === version),
  }
}

describe('a process', () => {
  let store: StoreFixture
  beforeAll(async () => {
    store = await openStore('artefact')
  })
  afterAll(() => store?.close())
  beforeEach(() => store.rows('delete from audit_outbox'))

  const recorded = async () =>
    (await store.rows<{ entry: string }>('select entry from audit_outbox order by created_at')).map(
      ({ entry }) => JSON.parse(entry),
    )
  const facts = ({
    operation,
  }: {
    operation: { details: { code: string; value: string }[] }
  }): Record<string, string> =>
    Object.fromEntries(operation.details.map(({ code, value }) => [code, value]))

  it('begins with the artefact of its file, takes the next one without a restart, and a step back under a higher version', async () => {
    await put(artefact(1, MILDER))
    const one = await follow(store.databaseUrl, 'rising')
    expect(one.scanner.rulesetVersion).toBe(rulesetOf(MILDER))
    expect(decisionOf(one.scanner)).toBe('flag')
    await put(artefact(2, EMBEDDED_MODEL))
    await one.judgesBy(OWN)
    expect(decisionOf(one.scanner)).toBe('reject')
    await put(artefact(3, MILDER))
    await one.judgesBy(rulesetOf(MILDER))
    expect(await one.exposed()).toContain('baton_safety_artefact_version 3')
    expect(await one.exposed()).toContain('baton_safety_artefacts_total{outcome="activated"} 3')
    const told = await recorded()
    expect(told.map(({ event, act }) => [event, act.actor])).toEqual(
      Array(3).fill(['RULESET_ACTIVATED', 'rising']),
    )
    const signed = { ARTEFACT_SHA256: expect.stringMatching(/^[0-9a-f]{64}$/), SIGNED_BY: 'ann' }
    const milder = rulesetOf(MILDER)
    expect(told.map(facts)).toEqual([
      { TO: milder, ARTEFACT_VERSION: '1', ...signed },
      { FROM: milder, TO: OWN, ARTEFACT_VERSION: '2', ...signed },
      { FROM: OWN, TO: milder, ARTEFACT_VERSION: '3', ...signed },
    ])
  })

  it.each([
    ['signed by somebody else', 'UNSIGNED', () => artefact(9, MILDEST, EVE)],
    ['changed after it was signed', 'UNSIGNED', () => artefact(9, MILDEST).replace('9', '8')],
    ['cut off', 'UNSIGNED', () => artefact(9, MILDEST).slice(0, -9)],
    ['signed and of another form', 'INVALID', () => note('baton-safety-artefact/2\n')],
    ['too large', 'INVALID', () => artefact(9, MILDEST) + ' '.repeat(524_288)],
    ['of the version that is active', 'OLD', () => artefact(5, MILDEST)],
    ['of a lower version', 'OLD', () => artefact(4, MILDEST)],
    ['of a version far above the active one', 'AHEAD', () => artefact(1_006, MILDEST)],
    ['of the highest version of all', 'AHEAD', () => artefact(2_147_483_647, MILDEST)],
    ['never sure enough to reject', 'INVALID', () => artefact(9, { ...MILDEST, rejectAt: 9e8 })],
    ['without knowledge of attacks', 'UNFIT', () => artefact(9, { ...MILDEST, ...NEVER })],
    ['stopping ordinary texts', 'UNFIT', () => artefact(9, { ...MILDEST, flagAt: 1, rejectAt: 2 })],
  ])('goes on as it was beside one that is %s', async (what, code, content) => {
    await put(artefact(5, MILDER))
    const one = await follow(store.databaseUrl, `beside-${what.replaceAll(' ', '-')}`)
    await put(content())
    await one.until('the artefact to be refused', () => one.refused().length > 0)
    expect(one.scanner.rulesetVersion).toBe(rulesetOf(MILDER))
    const told = one.lines.find((line) => line.includes('artefact_refused')) ?? ''
    expect(JSON.parse(told)).toMatchObject({
      level: 'error',
      problem: expect.any(String),
      fix: expect.any(String),
    })
    const isRefused = 'baton_safety_file_refused{file="artefact"}'
    expect(await one.exposed()).toContain(`${isRefused} 1`)
    await put(artefact(10, MILDEST))
    await one.judgesBy(rulesetOf(MILDEST))
    await one.until('nothing to be refused any more', async () =>
      (await one.exposed()).includes(`${isRefused} 0`),
    )
    // Told once, however often it was looked at.
    expect(one.refused()).toEqual([`BATON_SAFETY_ARTEFACT_${code}`])
    expect(await one.exposed()).toContain('baton_safety_artefacts_total{outcome="refused"} 1')
    expect((await recorded()).map(facts).map(({ ARTEFACT_VERSION }) => ARTEFACT_VERSION)).toEqual([
      '5',
      '10',
    ])
  })

  const NEVER = { flagAt: 900_000_000, rejectAt: 900_000_001 }
  const note = (text: string): string => {
    const { name, keyId } = ANN.key
    const keyed = Buffer.concat([Buffer.from(keyId, 'hex'), ANN.sign(text).bytes])
    return `${text}\n\u2014 ${name} ${keyed.toString('base64')}\n`
  }

  it('says which versions may follow, and takes the highest of them', async () => {
    await put(artefact(5, MILDER))
    const one = await follow(store.databaseUrl, 'bounded')
    await put(artefact(1_006, MILDEST))
    await one.until('the artefact to be refused', () => one.refused().length > 0)
    const told = one.lines.find((line) => line.includes('artefact_refused')) ?? '{}'
    expect(JSON.parse(told)).toMatchObject({
      problem: 'the artefact has version 1006, and after version 5 only 6 to 1005 are taken',
      fix: 'Pack it again with `--as-version 6`.',
    })
    await put(artefact(1_005, MILDEST))
    await one.judgesBy(rulesetOf(MILDEST))
  })

  it('of another kind begins with the version that the first kind has come to', async () => {
    await put(artefact(900, MILDER))
    await follow(store.databaseUrl, 'first-kind')
    await put(artefact(1_800, MILDER))
    const other = await follow(store.databaseUrl, 'other-kind')
    await other.judgesBy(rulesetOf(MILDER))
    expect(other.refused()).toEqual([])
  })

  it('goes on as it was where the file is gone', async () => {
    await put(artefact(1, MILDER))
    const one = await follow(store.databaseUrl, 'gone')
    await rm(path())
    await one.until('the file to be missed', () => one.refused().length > 0)
    expect(one.refused()).toEqual(['BATON_SAFETY_ARTEFACT_INVALID'])
    expect(one.scanner.rulesetVersion).toBe(rulesetOf(MILDER))
  })

  it('waits for nobody where the file is a pipe, at its start and later', async () => {
    execFileSync('mkfifo', [path()])
    const one = await follow(store.databaseUrl, 'pipe')
    expect(one.refused()).toEqual(['BATON_SAFETY_ARTEFACT_INVALID'])
    expect(one.lines.join('')).toContain('is no regular file')
    await put(artefact(1, MILDER))
    await one.judgesBy(rulesetOf(MILDER))
  })

  it('is not brought back to an earlier artefact by a restart, and begins with the newest one again', async () => {
    await put(artefact(1, MILDER))
    const first = await follow(store.databaseUrl, 'restarted')
    await put(artefact(2, MILDEST))
    await first.judgesBy(rulesetOf(MILDEST))
    await put(artefact(1, MILDER))
    const second = await follow(store.databaseUrl, 'restarted')
    await second.until('the package to be recorded', async () => (await recorded()).length === 3)
    expect(second.refused()).toEqual(['BATON_SAFETY_ARTEFACT_OLD'])
    expect(second.scanner.rulesetVersion).toBe(OWN)
    await put(artefact(2, MILDEST))
    await second.judgesBy(rulesetOf(MILDEST))
  })

  it('records with others of its kind each change once', async () => {
    await put(artefact(1, MILDER))
    const several = await Promise.all([1, 2, 3].map(() => follow(store.databaseUrl, 'flock')))
    await put(artefact(2, MILDEST))
    for (const one of several) await one.judgesBy(rulesetOf(MILDEST))
    expect((await recorded()).map(facts).map(({ TO }) => TO)).toEqual([
      rulesetOf(MILDER),
      rulesetOf(MILDEST),
    ])
  })

  it('judges by no model of which the log could not be told', async () => {
    await put(artefact(1, MILDER))
    const one = await follow(store.databaseUrl, 'away')
    await store.rows('alter table recorded_ruleset rename to away')
    await put(artefact(2, MILDEST))
    await one.until('the record to fail', () =>
      one.lines.some((line) => line.includes('safety.ruleset_unrecorded')),
    )
    expect(one.scanner.rulesetVersion).toBe(rulesetOf(MILDER))
    await store.rows('alter table away rename to recorded_ruleset')
    await one.judgesBy(rulesetOf(MILDEST))
  })

  it('says which scanner of the package it begins with, where it has no artefact', async () => {
    await put('')
    const one = await follow(store.databaseUrl, 'plain')
    await one.until('the record', async () => (await recorded()).length === 1)
    expect((await recorded()).map(facts)).toEqual([{ TO: OWN }])
  })

  it('does not begin where an artefact is named and nobody may sign one', () => {
    for (const keys of [undefined, 'ann+key'])
      expect(() =>
        followingArtefact({
          process: 'unsigned',
          scanner: createActiveScanner(),
          settings: {
            BATON_SAFETY_ARTEFACT_FILE: path(),
            BATON_SAFETY_SHADOW_FILE: undefined,
            BATON_SAFETY_KEYS: keys,
          },
          databaseUrl: store.databaseUrl,
          metrics: createMetrics(),
          logger: createLogger({ service: 'test' }),
        }),
      ).toThrow(expect.objectContaining({ code: 'BATON_SAFETY_KEYS_INVALID' }))
  })
})

describe('what comes in', () => {
  let pipeline: Pipeline
  beforeAll(async () => {
    pipeline = await openPipeline('artefact')
  })
  afterAll(() => pipeline?.close())

  it('is judged by the new model from the next message on, small or in a thread, and records say by which', async () => {
    await put(artefact(1, EMBEDDED_MODEL))
    const one = await follow(pipeline.system.deliveryUrl, 'receiver')
    const reader = recordingAgent('reader')
    await pipeline.start([reader.agent], { scanner: one.scanner })
    const large = `${'The supplier delivers every item in schedule two. '.repeat(1_200)}${PERSONA}`
    const judged = async () => {
      const sent = await Promise.all(
        [PERSONA, large].map((note) =>
          pipeline.send('reader', { state: { currentState: { note } } }),
        ),
      )
      return Promise.all(
        sent.map(async ({ taskId }) => {
          await eventually(async () => (await pipeline.decisions(taskId)).length === 1, {
            deadlineMs: 30_000,
            describe: () => `a decision\n${pipeline.log().slice(-2_000)}`,
          })
          const [decision] = await pipeline.decisions(taskId)
          const safety = decision?.verdicts['safety'] as Record<string, unknown> | undefined
          return [safety?.['decision'], safety?.['artefactId']]
        }),
      )
    }
    expect(await judged()).toEqual(Array(2).fill(['reject', OWN]))
    await put(artefact(2, MILDER))
    await one.judgesBy(rulesetOf(MILDER))
    expect(await judged()).toEqual(Array(2).fill(['flag', rulesetOf(MILDER)]))
    const events = async () =>
      (
        await pipeline.audit.query({
          text: `select from handoff_events where event = 'RULESET_ACTIVATED'`,
        })
      ).rows.length
    await eventually(async () => (await events()) === 2, {
      deadlineMs: 15_000,
      describe: 'both changes to stand in the log',
    })
  })

  it('of gateways and receivers as processes follows the file that their settings name', async () => {
    await put(artefact(11, EMBEDDED_MODEL))
    const env = {
      BATON_SAFETY_ARTEFACT_FILE: path(),
      BATON_SAFETY_SHADOW_FILE: path(),
      BATON_SAFETY_KEYS: formatVerifierKey(ANN.key),
      BATON_AGENTS: AGENTS,
      BATON_GATEWAY_PORT: '0',
      BATON_API_KEYS: createApiKey({ scopes: 'handoffs:send', operator: 'ann' }).entry,
    }
    const processes = await Promise.all(
      (['gateway', 'receiver'] as const).map((name) => pipeline.system.start(name, env)),
    )
    for (const one of processes) stops.push(() => one.stop())
    const activated = (version: number) =>
      processes.every((one) =>
        new RegExp(`"safety.artefact_activated","version":${version},"signedBy":"ann"`).test(
          one.output(),
        ),
      )
    const outputs = () => processes.map((one) => one.output().slice(-2_000)).join('\n')
    expect(activated(11)).toBe(true)
    await put(artefact(12, MILDER))
    await eventually(async () => activated(12), { deadlineMs: 20_000, describe: outputs })
    for (const one of processes) expect(one.output()).toContain('safety.shadow_begun')
  })
})
