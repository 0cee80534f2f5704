// Whatever honest people and processes do: no reading of the log raises an alarm, and every trace says exactly what was answered.
// BATON_TEST_HONEST_RUNS=2000 runs a campaign; BATON_TEST_SEED repeats one.
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import {
  readCoveredSizes,
  readFileAnchor,
  readTrace,
  sealLogKeys,
  verifyChains,
} from '@baton/audit'
import { createBatchSigner } from '@baton/ledger'
import { eventually, PEOPLE, seededRandom } from '@baton/testkit'
import { entryOf } from './audit-fixture.ts'
import type { RunningAuditor } from './audit-fixture.ts'
import { peopleOf } from './audit-holds-fixture.ts'
import type { Person } from './audit-holds-fixture.ts'
import { privateKey, publicHalf } from './audit-seals-fixture.ts'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

const RUNS = Number(process.env['BATON_TEST_HONEST_RUNS'] ?? 3)
const TASKS_LOOKED_AT = 3
/** A campaign says so often how far it is. */
const PROGRESS_EVERY = 50

/** A log is new after so many runs: each look reads all of it and every seal. */
const RUNS_OF_A_LOG = 100

let tiers: Tiers
let auditor: RunningAuditor
let sealer: Tiers['sealer']
/** What was answered to each append, by task, in order. */
let told = new Map<string, string[]>()
/** Tasks of people who are held and erased: their records come from the auditor too. */
let people: Person[] = []
/** The auditors' signing keys, the newest last: PKCS #8 DER in base64. */
let signingKeys: string[] = []

const trusted = (keys: readonly string[]): string => keys.map(publicHalf).join()

const startAuditor = () =>
  tiers.fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: tiers.sealing.publicKey,
    BATON_AUDIT_HOLD_TOKEN: 'hold-token-af1d8213f4a22b0f9803fe',
    BATON_AUDIT_SIGNING_KEY: signingKeys.at(-1) ?? '',
    BATON_AUDIT_TRUSTED_KEYS: trusted(signingKeys.slice(0, -1)),
  })
const startSealer = () =>
  tiers.sealing.startSealer({ BATON_AUDIT_TRUSTED_KEYS: trusted(signingKeys) })

async function begin(): Promise<void> {
  tiers = await createTiers(2)
  sealer = tiers.sealer
  told = new Map()
  people = []
  signingKeys = [tiers.fixture.signingKey]
  await tiers.append(40, 300)
  auditor = await startAuditor()
}

afterEach(() => tiers?.close())

const random = seededRandom('honest operations')
const someTask = (): string => random.pick([...told.keys(), randomUUID(), randomUUID()])

async function append(taskId: string, changes: Parameters<typeof entryOf>[0] = {}): Promise<void> {
  const [receipt] = await auditor.client.append([entryOf({ taskId, ...changes })])
  told.set(taskId, [...(told.get(taskId) ?? []), receipt?.recordHash ?? ''])
}

const { tell, hold, plan, confirm } = peopleOf(() => auditor)

async function someone(): Promise<Person> {
  const who = await tell()
  people.push(who)
  return who
}

/** As soon as it is proven that nobody holds the person's task. */
async function erase(who: Person): Promise<void> {
  const id = randomUUID()
  const isAccepted = async () => (await plan(who, id)).status === 200
  await eventually(isAccepted, { deadlineMs: 20_000, describe: 'an erasure to be planned' })
  const isDone = async () => (await confirm(id, who)).status === 200
  await eventually(isDone, { deadlineMs: 20_000, describe: 'an erasure to be confirmed' })
  const completed = await auditor.erase(`/v1/erasures/${id}/complete`, { stores: [] })
  expect(completed.status).toBe(200)
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
    sealer = await startSealer()
  },
  async 'restart auditor'() {
    await (random.next() < 0.5 ? auditor.process.stop() : auditor.process.kill())
    auditor = await startAuditor()
  },
  /** Who seals trusts the new key before the first batch is signed with it. */
  async 'rotate the signing key'() {
    signingKeys.push(privateKey())
    await sealer.stop()
    sealer = await startSealer()
    await auditor.process.stop()
    auditor = await startAuditor()
    await append(someTask())
  },
  erase: async () => erase(await someone()),
  async 'hold, lift and erase'() {
    const who = await someone()
    expect(await hold(who.taskId, true)).toBe(true)
    expect(await (await plan(who)).json()).toMatchObject({ state: 'DEFERRED' })
    expect(await hold(who.taskId, false)).toBe(true)
    await erase(who)
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
  const { fixture, vault, cold, sealKey, sealing } = tiers
  const batchKeys = new Map(
    signingKeys.map((key) => {
      const { keyId, publicKey } = createBatchSigner(key)
      return [keyId, publicKey]
    }),
  )
  const anchors = [readFileAnchor(sealing.anchorFile, sealLogKeys(fixture.reader, sealKey))]
  const report = await verifyChains({
    pool: fixture.reader,
    batchKeys,
    people: PEOPLE.people,
    vault,
    cold,
    seals: { publicKey: sealKey, anchors },
    full: true,
  })
  const alarms = report.findings.map(({ rule, message }) => `verify: ${rule} ${message}`)
  for (const { taskId } of people.slice(-TASKS_LOOKED_AT)) {
    const covered = await readCoveredSizes(fixture.reader, sealKey)
    const { records, verified, findings } = await readTrace(fixture.reader, taskId, {
      covered,
      cold,
    })
    if (!verified || records.length === 0)
      alarms.push(`trace of a person’s task: ${JSON.stringify(findings)}`)
  }
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
    let done: string[] = []
    for (let run = 0; run < RUNS; run += 1) {
      if (run % RUNS_OF_A_LOG === 0) {
        await tiers?.close()
        await begin()
        done = []
      }
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
