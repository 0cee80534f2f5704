// Whatever honest people and processes do: no reading of the log raises an alarm, and every trace says exactly what was answered.
// BATON_TEST_HONEST_RUNS=2000 runs a campaign; BATON_TEST_SEED repeats one.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCoveredSizes, readFileAnchor, readTrace, verifyChains } from '@baton/audit'
import { seededRandom } from '@baton/testkit'
import { entryOf } from './audit-fixture.ts'
import type { RunningAuditor } from './audit-fixture.ts'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

const RUNS = Number(process.env['BATON_TEST_HONEST_RUNS'] ?? 3)
const TASKS_LOOKED_AT = 3
/** A campaign says so often how far it is. */
const PROGRESS_EVERY = 50

let tiers: Tiers
let auditor: RunningAuditor
let sealer: Tiers['sealer']
/** What was answered to each append, by task, in order. */
const told = new Map<string, string[]>()

const startAuditor = () =>
  tiers.fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: tiers.sealing.publicKey })

beforeAll(async () => {
  tiers = await createTiers(2)
  sealer = tiers.sealer
  await tiers.append(40, 300)
  auditor = await startAuditor()
}, 120_000)
afterAll(() => tiers?.close())

const random = seededRandom('honest operations')
const someTask = (): string => random.pick([...told.keys(), randomUUID(), randomUUID()])

async function append(taskId: string, changes: Parameters<typeof entryOf>[0] = {}): Promise<void> {
  const [receipt] = await auditor.client.append([entryOf({ taskId, ...changes })])
  told.set(taskId, [...(told.get(taskId) ?? []), receipt?.recordHash ?? ''])
}

const OPERATIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  async append() {
    for (let count = random.integer(1, 12); count > 0; count -= 1) await append(someTask())
  },
  async together() {
    await Promise.all(Array.from({ length: 8 }, () => append(randomUUID())))
  },
  async repeat() {
    const taskId = someTask()
    const entry = entryOf({ taskId })
    await append(taskId, entry)
    await auditor.client.append([entry])
  },
  async 'restart sealer'() {
    if (random.next() < 0.5) await sealer.stop()
    else await sealer.kill()
    sealer = await tiers.sealing.startSealer()
  },
  async 'restart auditor'() {
    await (random.next() < 0.5 ? auditor.process.stop() : auditor.process.kill())
    auditor = await startAuditor()
  },
  async archive() {
    const archiver = await tiers.startArchiver()
    await tiers.archived(({ size }) => size >= 256)
    await archiver.stop()
  },
  sealed: () => tiers.sealing.sealed(),
  nothing: async () => undefined,
}

async function look(): Promise<string[]> {
  const { fixture, batchKeys, vault, cold, sealKey, sealing } = tiers
  const anchors = [readFileAnchor(sealing.anchorFile, sealKey)]
  const report = await verifyChains({
    pool: fixture.reader,
    batchKeys,
    vault,
    cold,
    seals: { publicKey: sealKey, anchors },
    full: true,
  })
  const alarms = report.findings.map(({ rule, message }) => `verify: ${rule} ${message}`)
  for (let count = 0; count < TASKS_LOOKED_AT; count += 1) {
    const taskId = someTask()
    const covered = await readCoveredSizes(fixture.reader, sealKey)
    const { records, verified, findings, ends } = await readTrace(fixture.reader, taskId, {
      covered,
      cold,
    })
    const hashes = records.map(({ recordHash }) => recordHash)
    const expected = told.get(taskId) ?? []
    if (!verified) alarms.push(`trace: ${JSON.stringify(findings)}`)
    if (hashes.join() !== expected.join()) alarms.push(`trace of ${taskId} shows something else`)
    if (ends.some((end) => end.records > expected.length)) alarms.push('an end that never was')
  }
  return alarms
}

test(
  `no alarm in ${RUNS} runs of honest operations`,
  { timeout: 60_000 + RUNS * 10_000 },
  async () => {
    const done: string[] = []
    for (let run = 0; run < RUNS; run += 1) {
      const name = random.pick(Object.keys(OPERATIONS))
      done.push(name)
      if (run > 0 && run % PROGRESS_EVERY === 0)
        process.stderr.write(`${run} runs without an alarm\n`)
      await OPERATIONS[name]?.()
      const alarms = await look()
      expect(alarms, `run ${run} of seed ${random.seed}: ${done.join(', ')}`).toEqual([])
    }
  },
)
