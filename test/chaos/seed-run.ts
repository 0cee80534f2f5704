// One seed: a fresh system, its traffic, its faults, the drain, the check.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from '@baton/testkit'
import { checkAll } from './check.ts'
import type { Violation } from './check.ts'
import { createDriver } from './driver.ts'
import { waitUntilDrained } from './drain.ts'
import type { Evidence } from './evidence.ts'
import { readLedger } from './effect-ledger.ts'
import { pause } from './fault.ts'
import { runFaults } from './fault-runner.ts'
import type { FaultRun } from './fault-runner.ts'
import { createHistory, readOperations, underStoredIds } from './history.ts'
import { readPeerLedger } from './peer-ledger.ts'
import { reset } from './postgres-faults.ts'
import { readEvidence } from './read-evidence.ts'
import { recoveriesMs } from './recovery.ts'
import type { Plan } from './schedule.ts'
import { watchBudgets } from './watch-budgets.ts'
import { BACKOFF, LEASE_MS, startWorld } from './world.ts'
import type { Servers, World } from './world.ts'

export interface SeedResult {
  readonly seed: number
  readonly faults: readonly FaultRun[]
  /** Sends that were told `ok`, and all of them. */
  readonly acknowledged: number
  readonly operations: number
  readonly unknown: number
  /** Handoffs in the database, with those that agents sent on. */
  readonly handoffs: number
  readonly executions: number
  /** Executions that finished and whose fencing token was no longer theirs. */
  readonly fenced: number
  readonly drainMs: number
  readonly recoveriesMs: readonly number[]
  readonly violations: readonly Violation[]
  /** Processes that ended although no fault ended them. */
  readonly surprises: readonly string[]
}

export interface SeedOptions extends Servers {
  readonly plan: Plan
  /** Histories, ledgers and logs; kept when something is wrong. */
  readonly folder: string
  readonly ratePerSecond: number
  readonly knownBad?: string
  readonly image?: string | undefined
  /** What a known-bad build has lost does not come back for being waited for: this long, KNOWN_BAD_DRAIN_MAX_MS where it is not said. */
  readonly knownBadDrainMaxMs?: number
  say(text: string): void
}

const DRAIN_MAX_MS = 60_000
/** How often somebody looks at what waits for approval. */
const APPROVE_MS = 1_000
const KNOWN_BAD_DRAIN_MAX_MS = 40_000
const TRAFFIC_STREAM = 7_919
const OUTSIDE_STREAM = 15_485_863

/** Runs the plan. Rejects only where the campaign itself fails. */
export async function runSeed(options: SeedOptions): Promise<SeedResult> {
  const { plan, folder, say } = options
  mkdirSync(folder, { recursive: true })
  const world = await startWorld({ ...options, seed: plan.seed + OUTSIDE_STREAM })
  try {
    const historyFile = join(folder, 'history.jsonl')
    const driver = createDriver({
      channels: world.channels,
      history: createHistory(historyFile),
      random: randomFrom(plan.seed + TRAFFIC_STREAM),
      ratePerSecond: options.ratePerSecond,
    })
    const traffic = driver.run()
    const approving = setInterval(() => void world.people.decideApprovals(), APPROVE_MS)
    const budgets = watchBudgets(world.admin)
    const faulting = runFaults(plan, world, driver)
    await pause(plan.seconds * 1_000)
    driver.stop()
    const faults = await faulting
    await heal(world)
    await traffic
    say(`seed ${plan.seed}: ${faults.length} faults over, draining`)
    const { knownBad, knownBadDrainMaxMs = KNOWN_BAD_DRAIN_MAX_MS } = options
    const maxMs = knownBad === undefined ? DRAIN_MAX_MS : knownBadDrainMaxMs
    clearInterval(approving)
    const { tookMs: drainMs, stuck } = await waitUntilDrained(world.admin, maxMs)
    if (stuck.length > 0) await standStill(world)
    const overspent = await budgets.stop()
    const gathered = await gather(world, { faults, historyFile })
    const evidence = { ...gathered, rules: [...gathered.rules, ...overspent] }
    writeFileSync(join(folder, 'faults.json'), JSON.stringify(faults, null, 1))
    return summarise(evidence, { seed: plan.seed, drainMs, world })
  } finally {
    await world.end()
  }
}

/** Nothing is left wrong on purpose: what is found now is the system's own doing. */
async function heal(world: World): Promise<void> {
  for (const link of world.links.values()) link.heal()
  for (const slot of world.slots.values()) {
    await slot.signal('SIGCONT')
    slot.control({ offsetMs: 0, rate: 1 })
  }
  await reset(world)
  // Replies that a gateway died with are not waited for.
  await world.admin.query({ text: 'update session_reply set lease_until = clock_timestamp()' })
}

/** What has not settled by now is found as it stands: nothing may move while it is read. */
async function standStill({ slots }: World): Promise<void> {
  const moving = [...slots.values()].filter(({ service }) => service !== 'auditor')
  await Promise.all(moving.map((slot) => slot.end()))
}

async function gather(
  world: World,
  { faults, historyFile }: { readonly faults: readonly FaultRun[]; readonly historyFile: string },
): Promise<Evidence> {
  const read = await readEvidence(world.system, world.tls)
  return {
    ...read,
    ...readPeerLedger(world.folder),
    operations: underStoredIds(readOperations(historyFile), read.handoffs),
    sendsKnown: true,
    ledger: readLedger(world.folder),
    faults,
    limits: { leaseMs: LEASE_MS, backoff: BACKOFF },
  }
}

function summarise(
  evidence: Evidence,
  { seed, drainMs, world }: { seed: number; drainMs: number; world: World },
): SeedResult {
  const { operations, handoffs, ledger, faults } = evidence
  const fencingTokens = new Map(handoffs.map((row) => [row.id, row.fencingToken]))
  return {
    seed,
    faults,
    operations: operations.length,
    acknowledged: operations.filter(({ outcome }) => outcome === 'acknowledged').length,
    unknown: operations.filter(({ outcome }) => outcome === 'unknown').length,
    handoffs: handoffs.length,
    executions: ledger.filter(({ what }) => what === 'start').length,
    fenced: ledger.filter(({ what, handoffId, fencingToken }) => {
      return what === 'end' && fencingTokens.get(handoffId) !== fencingToken
    }).length,
    drainMs,
    recoveriesMs: recoveriesMs(evidence).map(({ tookMs }) => Math.round(tookMs)),
    violations: checkAll(evidence),
    surprises: [...world.slots.values()].flatMap((slot) => slot.surprises),
  }
}
