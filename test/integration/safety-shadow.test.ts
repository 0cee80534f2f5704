// A candidate of the scanner judges beside the active one and decides nothing: where it differs is counted and listed, without text.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createShadow, scannerOf, signArtefact } from '@baton/engine'
import { createNoteSigner, formatVerifierKey } from '@baton/ledger'
import { createLogger } from '@baton/runtime'
import { createScanner, EMBEDDED_MODEL } from '@baton/safety'
import { addShadowDifferences, listShadowDifferences } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { eventually } from '@baton/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { MILDER, textForModelAlone } from './model-alone.ts'
import { openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const SIGNER = createNoteSigner({
  name: 'ann',
  pkcs8: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
})
const OWN = createScanner().rulesetVersion
const CANARY = 'canary-in-the-text'
const PERSONA = textForModelAlone()

let pipeline: Pipeline
let folder = ''
beforeAll(async () => {
  pipeline = await openPipeline('shadow')
})
afterAll(() => pipeline?.close())
let stops: (() => unknown)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-shadow-'))
})
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
  stops = []
  await rm(folder, { recursive: true })
})

const path = () => join(folder, 'candidate')
async function put(content: string): Promise<void> {
  await writeFile(join(folder, 'draft'), content)
  await rename(join(folder, 'draft'), path())
}

/** A worker with a candidate beside its scanner. */
async function openShadowed(type: string) {
  const metrics = createMetrics()
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const logger = createLogger({ service: 'test', destination: { write } })
  const settings = {
    BATON_SAFETY_ARTEFACT_FILE: undefined,
    BATON_SAFETY_SHADOW_FILE: path(),
    BATON_SAFETY_KEYS: formatVerifierKey(SIGNER.key),
  }
  const databaseUrl = pipeline.system.deliveryUrl
  const shadow = createShadow({ settings, databaseUrl, metrics, logger, everyMs: 10 })
  stops.push(() => shadow.stop())
  await shadow.start()
  const worker = await pipeline.start([recordingAgent(type).agent], { shadow })
  stops.push(() => worker.stop())
  const exposed = async () => (await metrics.expose()).body
  const until = (what: string, condition: () => Promise<boolean> | boolean) =>
    eventually(async () => condition(), {
      deadlineMs: 30_000,
      describe: () => `${what}\n${lines.join('')}\n${pipeline.log().slice(-2_000)}`,
    })
  /** How many handoffs were compared, by what both decided. */
  const counts = async () =>
    Object.fromEntries(
      [
        ...(await exposed()).matchAll(/shadow_total\{active="(\w+)",candidate="(\w+)"\} (\d+)/g),
      ].map(([, active, candidate, count]) => [`${active} ${candidate}`, Number(count)]),
    )
  const send = (note: string) => pipeline.send(type, { state: { currentState: { note } } })
  return { send, lines, exposed, until, counts }
}

const listed = () => listShadowDifferences(pipeline.pool, { limit: 100 })

it('what a candidate would decide otherwise is counted and listed, and nothing else happens by it', async () => {
  await put(signArtefact({ version: 2, model: MILDER }, SIGNER))
  const { send, lines, exposed, counts, until } = await openShadowed('reader')
  const small = await send(PERSONA)
  const filler = 'The supplier delivers every item in schedule two. '.repeat(1_200)
  const large = await send(`${CANARY} ${filler}${PERSONA}`)
  const ordinary = await send(`${CANARY} The supplier delivers every item.`)
  const sumOf = (all: Readonly<Record<string, number>>) =>
    Object.values(all).reduce((sum, count) => sum + count, 0)
  await until('three to be compared', async () => sumOf(await counts()) === 3)
  expect(await counts()).toEqual({ 'reject flag': 2, 'allow allow': 1 })
  await until('the differences to be kept', async () => (await listed()).length === 2)
  const differences = await listed()
  expect(new Set(differences.map(({ handoffId }) => handoffId))).toEqual(
    new Set([small.handoffId, large.handoffId]),
  )
  for (const difference of differences)
    expect(difference).toMatchObject({
      tenant: 'default',
      candidateVersion: 2,
      candidateRuleset: scannerOf(MILDER).rulesetVersion,
      activeRuleset: OWN,
      activeDecision: 'reject',
      candidateDecision: 'flag',
      activeRules: 'model',
      candidateRules: 'model',
    })
  // The scanner alone has decided, and its records know of no candidate.
  for (const { taskId } of [small, large]) {
    const [decision] = await pipeline.decisions(taskId)
    expect(decision).toMatchObject({ status: 'REJECTED', reason: 'SAFETY_VIOLATION' })
    expect(decision?.verdicts['safety']).toMatchObject({ artefactId: OWN })
  }
  expect((await pipeline.taskEnds(ordinary.taskId)).status).toBe('COMPLETED')
  const rows = await pipeline.rows('select * from shadow_difference')
  expect(JSON.stringify(rows) + (await exposed()) + lines.join('')).not.toContain(CANARY)
})

it('nothing is compared without a candidate that a trusted key signed, nor with the active one itself', async () => {
  await put('no artefact')
  const { send, lines, exposed, until } = await openShadowed('other')
  expect(lines.filter((line) => line.includes('BATON_SAFETY_ARTEFACT_UNSIGNED'))).toHaveLength(1)
  await put(signArtefact({ version: 3, model: EMBEDDED_MODEL }, SIGNER))
  await until('the candidate to be taken', () =>
    lines.some((line) => line.includes('safety.shadow_begun')),
  )
  const { taskId } = await send(PERSONA)
  await until('a decision', async () => (await pipeline.decisions(taskId)).length === 1)
  expect(await exposed()).not.toContain('baton_safety_shadow_total{')
})

it('the newest ten thousand differences are kept', async () => {
  const one = (nth: number) => ({
    handoffId: `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`,
    taskId: '7f3c91de-0000-4000-8000-000000000002',
    tenant: 'default',
    candidateVersion: 9,
    candidateRuleset: 'ab',
    activeRuleset: 'cd',
    activeDecision: 'allow',
    candidateDecision: 'flag',
    activeRules: '',
    candidateRules: 'model',
  })
  const set = Array.from({ length: 10_005 }, (_, nth) => one(nth))
  await addShadowDifferences(pipeline.pool, set)
  await addShadowDifferences(pipeline.pool, [one(10_006)])
  await addShadowDifferences(pipeline.pool, [one(10_006)])
  const [row] = await pipeline.rows<{ count: number }>(
    'select count(*)::int as count from shadow_difference',
  )
  expect(row?.count).toBe(10_000)
})
