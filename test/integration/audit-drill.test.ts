// A drill chooses among every record that is kept, wherever it stands; a cold task is rebuilt in time, and recorded.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '@baton/testkit'
import { expireChain, readArchivePositions, readTrace } from '@baton/audit'
import type { RunningAuditor } from './audit-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

interface Drill {
  readonly seed: number
  readonly taskId: string
  readonly records: number
  readonly coldRecords: number
  readonly totalMs: number
  readonly traceVerified: boolean
  readonly verdict: string
  readonly result: string
}

let tiers: Tiers
let auditor: RunningAuditor
const ORIGIN = 'baton/development/1/s0'
const DAY_MICROS = 86_400_000_000
/** Its first record expires, its last one stays. */
const halfExpired = randomUUID()

beforeAll(async () => {
  tiers = await createTiers(1, { isAged: true })
  await tiers.append(420, 255)
  await tiers.append(420, 1, { taskId: halfExpired })
  await tiers.append(40, 1, { taskId: halfExpired })
  await tiers.append(40, 511)
  await tiers.append(0, 200)
  await tiers.sealing.sealed()
  const archiver = await tiers.startArchiver()
  await tiers.archived(({ hotFrom }) => hotFrom === 768)
  await archiver.stop()
  const { fixture, sealing, archiverPool, cold } = tiers
  const position = (await readArchivePositions(fixture.reader)).get(0)
  if (position === undefined) throw new Error('nothing is archived')
  const beforeMicros = Date.now() * 1_000 - 400 * DAY_MICROS
  const { record, heldAmong, isOldEnough } = tiers
  await expireChain({
    db: archiverPool,
    store: cold,
    origin: ORIGIN,
    position,
    beforeMicros,
    heldAmong,
    isOldEnough,
    record,
  })
  await sealing.sealed()
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_COLD_FOLDER: tiers.folder,
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
  })
}, 120_000)
afterAll(() => tiers?.close())

async function drill(seed: number, url = auditor.url): Promise<Drill> {
  const response = await fetch(`${url}/v1/drills`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer evidence-token-14e10d570047667f904261',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ seed }),
  })
  expect([seed, response.status]).toEqual([seed, 200])
  return (await response.json()) as Drill
}

test('cold tasks are drilled as well as hot ones, each in time; one that expired in part is passed over', async () => {
  const drills: Drill[] = []
  for (let seed = 0; seed < 24; seed += 1) drills.push(await drill(seed))
  expect(drills.map(({ result }) => result)).toEqual(drills.map(() => 'passed'))
  expect(Math.max(...drills.map(({ totalMs }) => totalMs))).toBeLessThan(10_000)
  const cold = drills.filter(({ coldRecords }) => coldRecords > 0)
  expect(cold.length).toBeGreaterThan(6)
  expect(cold.length).toBeLessThan(24)
  expect(new Set(cold.map(({ taskId }) => taskId)).size).toBeGreaterThan(6)
  expect(drills.map(({ taskId }) => taskId)).not.toContain(halfExpired)
})

test('the drill of a cold task stands in its own chain, behind the records of the cold store', async () => {
  const { taskId } = await coldDrill()
  const trace = await readTrace(tiers.fixture.reader, taskId, { cold: tiers.cold })
  expect(trace.verified).toBe(true)
  expect(trace.records.map(({ tier, body }) => [tier, body.event, body.reason])).toEqual([
    ['cold', 'HANDOFF_ACCEPTED', null],
    ['hot', 'VERIFY_RUN', 'DRILL_PASSED'],
    ...trace.records.slice(2).map(() => ['hot', 'VERIFY_RUN', 'DRILL_PASSED']),
  ])
})

test('a drill comes by itself, says so, and is counted', async () => {
  const scheduled = await tiers.fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: tiers.sealing.publicKey,
    BATON_COLD_FOLDER: tiers.folder,
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
    BATON_AUDIT_DRILL_EVERY_S: '1',
  })
  const drilled = () =>
    /"event":"audit.drill".*?"taskId":"([^"]+)"/.exec(scheduled.process.output())
  await eventually(async () => drilled() !== null, {
    deadlineMs: 20_000,
    describe: 'the auditor to drill by itself',
  })
  const { reader } = tiers.fixture
  const { records } = await readTrace(reader, drilled()?.[1] ?? '', { cold: tiers.cold })
  expect(records.map(({ body }) => [body.event, body.reason, body.act?.actor])).toContainEqual([
    'VERIFY_RUN',
    'DRILL_PASSED',
    'schedule',
  ])
  const shown = await (await fetch(`${opsUrl(scheduled.process)}/metrics`)).text()
  expect(shown).toMatch(/^baton_audit_drills_total\{result="passed"\} [1-9]/m)
  await scheduled.process.stop()
})

test('the age of the last drill that passed outlives the auditor, and a new one ends it', async () => {
  const { superuser } = tiers.fixture
  await superuser.query({
    text: `update audit.last_drill set passed_at = now() - interval '9 days'`,
  })
  const seen = await tiers.fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: tiers.sealing.publicKey,
    BATON_COLD_FOLDER: tiers.folder,
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
    BATON_AUDIT_DRILL_EVERY_S: '0',
  })
  const age = async () => {
    const shown = await (await fetch(`${opsUrl(seen.process)}/metrics`)).text()
    return Number(/^baton_audit_drill_age_seconds\{schedule="off"\} (\S+)/m.exec(shown)?.[1])
  }
  const known = await eventually(async () => (await age()) || undefined, {
    deadlineMs: 20_000,
    describe: 'the age is shown',
  })
  expect(known).toBeGreaterThan(9 * 86_400 - 1)
  await drill(1, seen.url)
  expect(await age()).toBeLessThan(3_600)
  await seen.process.stop()
})

test('a task whose bundle is gone from the cold store fails its drill, and that is recorded too', async () => {
  await tiers.cold.remove(['001', '002'].map((index) => `${ORIGIN}/tile/entries/${index}`))
  const drilled = await coldDrill()
  expect(drilled).toMatchObject({ result: 'failed', traceVerified: false })
  const { records } = await readTrace(tiers.fixture.reader, drilled.taskId, { cold: tiers.cold })
  expect(records.at(-1)?.body).toMatchObject({ event: 'VERIFY_RUN', reason: 'DRILL_FAILED' })
})

/** The first drill that does not choose one of the few hot tasks. */
async function coldDrill(): Promise<Drill> {
  for (let seed = 100; seed < 120; seed += 1) {
    const drilled = await drill(seed)
    if (drilled.coldRecords > 0 || drilled.result === 'failed') return drilled
  }
  throw new Error('twenty drills chose hot tasks alone')
}
