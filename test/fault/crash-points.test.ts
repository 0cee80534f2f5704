// kill -9 at every named point between two lines that matter; afterwards every promise still holds.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sender } from '@baton/sdk'
import {
  acquirePostgres,
  acquireRedis,
  createSystem,
  describeWith,
  seededRandom,
} from '@baton/testkit'
import type { ServiceName, ServiceProcess, System } from '@baton/testkit'
import { UNDER_LOAD } from './crash-point-list.ts'
import { createDriver, sendTasks } from './driver.ts'
import { drained, violations } from './history.ts'

// A process is killed on one pass of each point, chosen by the seed; BATON_TEST_CRASH_PASSES=all kills on every pass from 1 to 5.
const PASSES = [1, 2, 3, 4, 5]
const random = seededRandom('crash points')
const CASES = UNDER_LOAD.flatMap((one) => {
  const passes = process.env['BATON_TEST_CRASH_PASSES'] === 'all' ? PASSES : [random.pick(PASSES)]
  return passes.map((pass) => ({ ...one, pass }))
})

interface Doomed {
  readonly service: ServiceName
  readonly point: string
  readonly pass: number
  readonly target?: 'broken' | 'forking'
}

/** What runs. Those of one test are killed beside each other and share its drain and its check, which took most of the time. */
const SEATS: readonly ServiceName[] = ['auditor', 'relay', 'receiver', 'receiver']

interface Seated extends Doomed {
  readonly seat: number
}

/** Every case in the first test that has a seat left for it. */
function roundsOf(cases: readonly Doomed[]): readonly (readonly Seated[])[] {
  const rounds: Seated[][] = []
  for (const one of cases) {
    const seats = [...SEATS.keys()].filter((seat) => SEATS[seat] === one.service)
    for (let at = 0; ; at += 1) {
      const round = (rounds[at] ??= [])
      const seat = seats.find((free) => round.every((other) => other.seat !== free))
      if (seat === undefined) continue
      round.push({ ...one, seat })
      break
    }
  }
  return rounds
}

const ROUNDS = roundsOf(CASES).map((round) => ({
  round,
  points: round.map(({ point, pass }) => `${point}:${pass}`).join(', '),
}))

/** Tasks are sent wave by wave, because a relay and an auditor pass a point once per set. */
const TASKS = 4
const WAVES_MAX = 60
const WAVE_MS = 200

describeWith('a service killed at a crash point', await acquireRedis(), (redis) => {
  const ledger = join(mkdtempSync(join(tmpdir(), 'baton-ledger-')), 'effects.jsonl')
  const acknowledged: string[] = []
  /** Who sits in which seat now. */
  const running = new Map<number, ServiceProcess>()
  let system: System
  let driver: Sender

  beforeAll(async () => {
    const { adminUrl } = await acquirePostgres()
    system = await createSystem({
      purpose: 'crash points',
      adminUrl,
      redisUrl: redis.url,
      agents: './test/fault/ledger-agents.ts',
      env: {
        BATON_TEST_LEDGER: ledger,
        BATON_LEASE_MS: '1500',
        BATON_UNDELIVERED_MS: '1000',
        BATON_RETRY_BASE_MS: '50',
        BATON_RETRY_CAP_MS: '200',
      },
    })
    for (const [seat, name] of SEATS.entries()) running.set(seat, await system.start(name))
    driver = createDriver(system)
  })

  afterAll(async () => {
    await driver.close()
    await system.stop()
  })

  /** Whoever sits there is killed at the point under tasks, and followed by one that lives. */
  async function dies({ service, point, pass, target, seat }: Seated): Promise<void> {
    await running.get(seat)?.stop()
    const doomed = await system.start(service, { BATON_CRASH_AT: `${point}:${pass}` })
    for (let wave = 0; wave < WAVES_MAX && !(await endsWithin(doomed, WAVE_MS)); wave += 1) {
      acknowledged.push(...(await sendTasks(driver, TASKS, target)))
    }
    expect([point, (await doomed.exited(0)).signal]).toEqual([point, 'SIGKILL'])
    running.set(seat, await system.start(service))
  }

  it.each(ROUNDS)('$points lose and repeat nothing', async ({ round }) => {
    await Promise.all(round.map(dies))
    await drained(system)
    expect(await violations(system, acknowledged, ledger)).toEqual([])
  })
})

const endsWithin = (service: ServiceProcess, deadlineMs: number): Promise<boolean> =>
  service.exited(deadlineMs).then(
    () => true,
    () => false,
  )
