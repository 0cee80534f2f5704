// Makes the faults of a plan at their times; two on the same resource happen one after the other.
import { randomFrom } from '@baton/testkit'
import type { SeededRandom } from '@baton/testkit'
import type { Driver } from './driver.ts'
import { pause } from './fault.ts'
import type { Fault } from './fault.ts'
import { kindOf } from './schedule.ts'
import type { Plan } from './schedule.ts'
import type { World } from './world.ts'

/** What faults draw while they happen has a stream of its own, so that the plan stays the same. */
const FAULTS_STREAM = 1_000_003

/** A fault as it happened. Times in milliseconds since 1970. */
export interface FaultRun extends Fault {
  readonly begunAt: number
  readonly endedAt: number
  /** Why it could not be made, where it could not. */
  readonly failure?: string
}

/** Resolves when every fault of the plan is over. */
export async function runFaults(
  plan: Plan,
  world: World,
  driver: Driver,
): Promise<readonly FaultRun[]> {
  const startedAt = performance.now()
  const busy = new Map<string, Promise<unknown>>()
  const random = randomFrom(plan.seed + FAULTS_STREAM)
  const runs = plan.faults.map(async (fault) => {
    await pause(startedAt + fault.atMs - performance.now())
    const kind = kindOf(fault.kind)
    const resource = kind.resource ?? fault.target
    const before = busy.get(resource)
    const run = (before ?? Promise.resolve()).then(() => runOne(fault, { world, driver, random }))
    busy.set(resource, run)
    return await run
  })
  return await Promise.all(runs)
}

interface Place {
  readonly world: World
  readonly driver: Driver
  readonly random: SeededRandom
}

async function runOne(fault: Fault, place: Place): Promise<FaultRun> {
  const begunAt = Date.now()
  const scene = {
    ...place,
    target: fault.target,
    number: (name: string) => Number(fault.parameters[name]),
  }
  try {
    await kindOf(fault.kind).make(scene)
    return { ...fault, begunAt, endedAt: Date.now() }
  } catch (error) {
    const failure = error instanceof Error ? error.message.split('\n')[0] : String(error)
    return { ...fault, begunAt, endedAt: Date.now(), failure: failure ?? 'unknown' }
  }
}
