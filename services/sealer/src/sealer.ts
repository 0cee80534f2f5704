// Seals what the chains gained, once a second; signs nothing that does not extend what it signed before. One of several sealers seals, the others stand by.
import { inSnapshot } from '@baton/audit'
import type { Anchor } from '@baton/audit'
import { codeOf, crashPoint, every, kindOf } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { createAnchoring } from './anchoring.ts'
import { checkChains } from './check-chains.ts'
import { createFirstWitness } from './first-witness.ts'
import type { FirstWitness } from './first-witness.ts'
import { createLease } from './lease.ts'
import { createPhase } from './phase.ts'
import { createPublishing } from './publishing.ts'
import { createSealLog, newestEntry } from './seal-log.ts'
import type { SealerOptions } from './sealer-options.ts'
import { createStandBy } from './stand-by.ts'
import type { SealerState } from './state-file.ts'
import { createTakeOver } from './take-over.ts'
import { createTaskMapKeeper } from './task-map-keeper.ts'

/** Records of one chain in one round: a long catch-up is saved on its way. */
const RECORDS_MAX = 100_000

export interface Sealer extends Service {
  /**
   * False once something was found that must not be sealed, which only a person and a restart end; and while it could not
   * take over, or is the only sealer of its settings and another one seals.
   */
  readonly ready: boolean
}

/** Stays up and unready after a finding, so that what it saw can be read from its metrics and log. */
export function createSealer(options: SealerOptions): Sealer {
  const { pool, everyMs, logger } = options
  const parts = openSealing(options)
  const { log, lease, phase, taskMap, publishing, takeOver, anchoring, sealConsistency } = parts
  let hasPlace = true
  let stopped: Promise<void> | undefined

  async function round(): Promise<number> {
    if (lease.held === undefined) publishing.stepDown()
    if (phase.isHalted) return Infinity
    if (!phase.isSealing) hasPlace = await takeOver.waitForLease()
    else {
      await publishing.finish()
      if (phase.isSealing) await sealConsistency()
      if (log.state !== undefined && anchoring.isDue(log.state)) parts.showAnchors()
    }
    return phase.isHalted ? Infinity : everyMs
  }

  /** Says what failed, and after how long a round is tried again. Whoever cannot take over lets others try. */
  function failed(error: unknown): number {
    if (kindOf(error) === 'defect') phase.haltFor('SEAL_LOG', codeOf(error))
    logger.error({ event: 'seal.failed', code: codeOf(error), error })
    if (phase.isHalted) return Infinity
    if (phase.isSealing || kindOf(error) !== 'permanent') return everyMs
    hasPlace = false
    parts.giveUpLease()
    return options.leaseMs
  }

  const rounds = every({ name: 'sealer', everyMs, run: round, failed })

  /** The last seal commits to a map that holds every record. */
  async function sealTheRest(): Promise<void> {
    await rounds.stop()
    await taskMap.stop()
    if (phase.isSealing) await round().then(taskMap.follow).then(round).catch(failed)
    parts.showAnchors()
    await anchoring.finished()
    await lease.stop()
    await lease.release().catch(failed)
    await pool.end()
  }

  /** A witness or a database that is away may come back; anything else a person mends before the sealer runs. */
  function orThrow(error: unknown): boolean {
    if (kindOf(error) !== 'transient') throw error
    failed(error)
    return true
  }

  return {
    name: rounds.name,
    get ready() {
      return !phase.isHalted && hasPlace
    },
    async start() {
      await log.open()
      await lease.start()
      if (parts.isAlone) await takeOver.takeAlone()
      else hasPlace = await takeOver.waitForLease().catch(orThrow)
      if (phase.isHalted) return
      await rounds.start()
      await taskMap.start()
    },
    stop: () => (stopped ??= sealTheRest()),
  }
}

/** What rounds are made of. */
function openSealing(options: SealerOptions) {
  const { pool, batchKeys, metrics, logger } = options
  const log = createSealLog(options)
  const anchors = options.anchors(log)
  const witness = firstWitnessOf(options, anchors)
  const lease = createLease(options)
  // The first witness is shown every seal before; asked from here too, it would be shown one that is not its newest.
  const others = anchors.filter((anchor) => anchor !== witness?.anchor)
  const anchoring = createAnchoring({ ...options, anchors: others })
  const giveUpLease = () =>
    void lease
      .release()
      .catch((error: unknown) => logger.warn({ event: 'seal.lease_failed', error }))
  const phase = createPhase(options, {
    newestSeq: () => log.state?.seal.seq ?? null,
    halted: giveUpLease,
  })
  const taskMap = createTaskMapKeeper(options, {
    newest: () => (phase.isSealing && log.isPublished() ? log.state : undefined),
    halt: phase.halt,
  })
  const publishing = createPublishing({ ...options, log, lease, phase, witness })
  const standBy = witness && createStandBy({ ...options, witness })
  const takeOver = createTakeOver({
    ...options,
    log,
    lease,
    phase,
    publishing,
    standBy,
    others,
    forgetMap: taskMap.forget,
  })

  function showAnchors(): void {
    const { state } = log
    if (!phase.isSealing || state === undefined || !log.isPublished()) return
    anchoring.show(state, publishing.cosigned(state.seal.seq), ({ anchored, conflict }) => {
      // What was shown by one that was overtaken says nothing of the log.
      if (lease.held === undefined) return
      log.rememberAnchored(anchored)
      if (conflict !== undefined) phase.haltFor('SEAL_ANCHOR', conflict)
    })
  }

  async function sealConsistency(): Promise<void> {
    const checked = await inSnapshot(pool, (snapshot) =>
      checkChains(snapshot, { state: log.state, batchKeys, recordsMax: RECORDS_MAX }),
    )
    if (checked.findings.length > 0) return phase.halt(checked.findings)
    const { coming = log.state?.tasks } = taskMap
    const isUpToDate = !checked.grew && coming === log.state?.tasks
    if (isUpToDate && !log.isHandingOver && log.idleMs < options.heartbeatMs) return
    if (lease.held === undefined) return publishing.stepDown()
    const next = await log.sign(checked.chains, coming)
    await publishing.add(next)
    if (!phase.isSealing || log.state?.seal !== next.seal) return
    // Both keys stand in it: whoever is outside sees it at once.
    if (sayHandover(log.state, logger)) showAnchors()
    metrics.sealsTotal.inc()
    crashPoint('sealer.after_publish')
  }

  return {
    log,
    lease,
    phase,
    taskMap,
    publishing,
    takeOver,
    anchoring,
    showAnchors,
    giveUpLease,
    sealConsistency,
    isAlone: witness === undefined,
  }
}

function firstWitnessOf(
  { pool, origin, firstWitness: key }: SealerOptions,
  anchors: readonly Anchor[],
): FirstWitness | undefined {
  const anchor = key && anchors.find(({ name }) => name === `witness ${key.name}`)
  return anchor && createFirstWitness({ pool, anchor, key, origin })
}

/** Whether the newest seal is a hand-over. */
function sayHandover(state: SealerState | undefined, logger: Logger): boolean {
  const { handover } = newestEntry(state) ?? {}
  if (handover === undefined) return false
  const { from, to } = handover
  logger.warn({ event: 'seal.key_handed_over', seal: state?.seal.seq, from, to })
  return true
}
