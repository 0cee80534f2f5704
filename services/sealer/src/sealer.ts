// Seals what the chains gained, once a second; signs nothing that does not extend what it signed before.
import { createLogClock, inSnapshot, readDatabaseClock, storeSeal } from '@baton/audit'
import type { Anchor, ColdStore, Pool } from '@baton/audit'
import { formatVerifierKey, readSealEntry, SIGNATURE_TYPES, verifierKey } from '@baton/ledger'
import type { Finding, Policy, SealEntry } from '@baton/ledger'
import { codeOf, crashPoint, every, kindOf } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { KeyObject } from 'node:crypto'
import { createAnchoring } from './anchoring.ts'
import { checkChains } from './check-chains.ts'
import type { CheckedChains } from './check-chains.ts'
import { ringOf } from './seal-ring.ts'
import type { SealingKey, SealRing } from './seal-ring.ts'
import { signSeal } from './sign-seal.ts'
import { checkStartPatiently } from './start-checks.ts'
import { readState, writeState } from './state-file.ts'
import type { SealerState } from './state-file.ts'
import { createTaskMapKeeper } from './task-map-keeper.ts'

export interface SealerOptions {
  /** Connected as audit_sealer. */
  readonly pool: Pool
  readonly statePath: string
  /** Of the seal log. */
  readonly origin: string
  /** Those of the settings: the first one is to sign. */
  readonly signingKeys: readonly SealingKey[]
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Made when the state is known: a witness is asked from the size that it acknowledged. */
  readonly anchors: (known: KnownToAnchors) => readonly Anchor[]
  readonly policy: Policy | undefined
  /** Whether anchors may have forgotten what they had kept. */
  readonly isAnchorFirstStart: boolean
  readonly everyMs: number
  readonly heartbeatMs: number
  readonly anchorEveryMs: number
  /** How often the map of tasks follows the seals. */
  readonly taskMapEveryMs: number
  /** Where records stand that were dropped from the database. */
  readonly cold: ColdStore | undefined
  readonly metrics: Metrics
  readonly logger: Logger
}

/** What anchors are told, as it is when they are asked. */
export interface KnownToAnchors {
  anchored(): SealerState['anchored']
  ring(): SealRing
}

/** Records of one chain in one round: a long catch-up is saved on its way. */
const RECORDS_MAX = 100_000
const FINDINGS_LOGGED_MAX = 10

export interface Sealer extends Service {
  /** False once something was found that must not be sealed; only a person and a restart end that. */
  readonly sealing: boolean
}

/** Stays up and unready after a finding, so that what it saw can be read from its metrics and log. */
export function createSealer(options: SealerOptions): Sealer {
  const { pool, batchKeys, everyMs, metrics, logger } = options
  const log = createSealLog(options)
  const anchors = options.anchors(log)
  const anchoring = createAnchoring({ ...options, anchors })
  const phase = createPhase(options, () => log.state?.seal.seq ?? null)
  const taskMap = createTaskMapKeeper(options, {
    newest: () => (phase.isSealing && log.isPublished() ? log.state : undefined),
    halt: phase.halt,
  })
  let stopped: Promise<void> | undefined

  async function publish(): Promise<void> {
    if (!(await log.publish())) phase.haltFor('SEAL_LOG', OTHER_ENTRY)
  }

  async function sealConsistency(): Promise<void> {
    const checked = await inSnapshot(pool, (snapshot) =>
      checkChains(snapshot, { state: log.state, batchKeys, recordsMax: RECORDS_MAX }),
    )
    if (checked.findings.length > 0) return phase.halt(checked.findings)
    const { coming = log.state?.tasks } = taskMap
    const isUpToDate = !checked.grew && coming === log.state?.tasks
    if (isUpToDate && !log.isHandingOver && log.idleMs < options.heartbeatMs) return
    await log.sign(checked.chains, coming)
    await publish()
    // Both keys stand in it: whoever is outside sees it at once.
    if (sayHandover(log.state, logger)) showAnchors()
    metrics.sealsTotal.inc()
    crashPoint('sealer.after_publish')
  }

  function showAnchors(): void {
    if (!phase.isSealing || log.state === undefined || !log.isPublished()) return
    anchoring.show(log.state, ({ anchored, conflict }) => {
      log.rememberAnchored(anchored)
      if (conflict !== undefined) phase.haltFor('SEAL_ANCHOR', conflict)
    })
  }

  async function round(): Promise<number> {
    await publish()
    if (phase.isSealing) await sealConsistency()
    if (log.state !== undefined && anchoring.isDue(log.state)) showAnchors()
    return phase.isSealing ? everyMs : Infinity
  }

  const failed = failureOf(phase, options)
  const rounds = every({ name: 'sealer', everyMs, run: round, failed })

  /** The last seal commits to a map that holds every record. */
  async function sealTheRest(): Promise<void> {
    await rounds.stop()
    await taskMap.stop()
    if (phase.isSealing) await round().then(taskMap.follow).then(round).catch(failed)
    showAnchors()
    await anchoring.finished()
    await pool.end()
  }

  return {
    name: rounds.name,
    get sealing() {
      return !phase.isHalted
    },
    async start() {
      await log.open()
      await checkStartPatiently(log.state, { pool, anchors, logger })
      await publish()
      if (phase.isHalted) return
      phase.begin()
      await rounds.start()
      await taskMap.start()
    },
    stop: () => (stopped ??= sealTheRest()),
  }
}

/** For the settings of witnesses, and for policies. */
function sayKeys({ current, next }: SealRing, { origin, logger }: SealerOptions): void {
  const keyOf = ({ publicKey }: SealingKey) =>
    formatVerifierKey(verifierKey(origin, SIGNATURE_TYPES.ed25519, publicKey))
  logger.info({ event: 'seal.log', key: keyOf(current), ...(next && { next: keyOf(next) }) })
}

/** Says what failed, and after how long a round is tried again. */
const failureOf =
  (phase: ReturnType<typeof createPhase>, { everyMs, logger }: SealerOptions) =>
  (error: unknown): number => {
    if (kindOf(error) === 'defect') phase.haltFor('SEAL_LOG', codeOf(error))
    logger.error({ event: 'seal.failed', code: codeOf(error), error })
    return phase.isSealing ? everyMs : Infinity
  }

/** Whether the newest seal is a hand-over. */
function sayHandover(state: SealerState | undefined, logger: Logger): boolean {
  const { handover } = newestEntry(state) ?? {}
  if (handover === undefined) return false
  const { from, to } = handover
  logger.warn({ event: 'seal.key_handed_over', seal: state?.seal.seq, from, to })
  return true
}

const newestEntry = (state: SealerState | undefined): SealEntry | undefined =>
  state && readSealEntry(state.seal.body)

/** Begins once, and ends for good with the first finding. */
function createPhase(options: SealerOptions, newestSeq: () => number | null) {
  let phase: 'starting' | 'sealing' | 'halted' = 'starting'
  function halt(findings: readonly Finding[]): void {
    phase = 'halted'
    report(findings, options)
  }
  return {
    get isSealing() {
      return phase === 'sealing'
    },
    get isHalted() {
      return phase === 'halted'
    },
    begin: () => void (phase = 'sealing'),
    halt,
    haltFor(rule: Finding['rule'], message: string): void {
      halt([{ origin: 'seals', seq: newestSeq(), rule, message }])
    },
  }
}

function report(findings: readonly Finding[], { metrics, logger }: SealerOptions): void {
  metrics.auditTamperDetectedTotal.inc()
  metrics.auditTampered.set(1)
  const shown = findings.slice(0, FINDINGS_LOGGED_MAX)
  logger.error({ event: 'audit.tamper_detected', findings: shown })
}

const OTHER_ENTRY = 'another entry stands in its place in the database'

/** The seal log as this sealer signs it: on its own disk first, then in the database. */
function createSealLog(options: SealerOptions) {
  const { pool, statePath, origin, signingKeys, isAnchorFirstStart } = options
  const clock = createLogClock({ ask: () => readDatabaseClock(pool) })
  let state: SealerState | undefined
  let ring = ringOf(signingKeys, origin, undefined)
  /** What the database is known to have: no seal follows one that it may lack. */
  let publishedSeq: number | undefined
  let signedAt = Number.NEGATIVE_INFINITY
  const isPublished = () => state?.seal.seq === publishedSeq
  return {
    isPublished,
    get state() {
      return state
    },
    anchored: () => state?.anchored ?? {},
    ring: () => ring,
    /** Whether the next seal hands over, or is the first one behind a hand-over: neither waits until something grows. */
    get isHandingOver() {
      return ring.next !== undefined || newestEntry(state)?.handover !== undefined
    },
    /** Since the newest seal was signed by this process. */
    get idleMs() {
      return performance.now() - signedAt
    },
    async open(): Promise<void> {
      const stored = await readState(statePath)
      state = stored && isAnchorFirstStart ? { ...stored, anchored: {} } : stored
      ring = ringOf(signingKeys, origin, state)
      sayKeys(ring, options)
    },
    async sign(chains: CheckedChains['chains'], tasks: SealerState['tasks']): Promise<void> {
      await clock.compare()
      const nowMicros = clock.nowMicros()
      const next = signSeal(chains, { ring, nowMicros, previous: state, tasks })
      crashPoint('sealer.before_state')
      await writeState(statePath, next)
      state = next
      ring = ringOf(signingKeys, origin, state)
      signedAt = performance.now()
    },
    /** Gives the database the newest seal if it may lack it; false where another entry stands in its place. */
    async publish(): Promise<boolean> {
      if (state === undefined || isPublished()) return true
      crashPoint('sealer.before_publish')
      const { seal } = state
      const isStored = await storeSeal(pool, seal)
      if (isStored) publishedSeq = seal.seq
      return isStored
    },
    rememberAnchored(anchored: SealerState['anchored']): void {
      if (state !== undefined) state = { ...state, anchored }
    },
  }
}
