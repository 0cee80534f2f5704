// The right to publish seals, as this process has it: by the clock of the database, and by the own one never for longer.
import { releaseSealLease, renewSealLease, takeSealLease } from '@baton/audit'
import type { HeldLease, Pool } from '@baton/audit'
import { formatVerifierKey } from '@baton/ledger'
import type { VerifierKey } from '@baton/ledger'
import { codeOf, every, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'

interface LeaseOptions {
  readonly pool: Pool
  /** Names this sealer: the same after a restart. */
  readonly holder: string
  readonly leaseMs: number
  /** Cosigns each seal before it is published; undefined where none is asked first. */
  readonly firstWitness: VerifierKey | undefined
  /** Whether it may take over from sealers that asked another witness first. */
  readonly isAnchorFirstStart: boolean
  readonly logger: Logger
}

/** `elsewhere`: another sealer has it, for so long at least. */
type Taken =
  | { readonly taken: true }
  | { readonly taken: false; readonly holder: string; readonly leftMs: number }

export interface Lease {
  /** Undefined once it has ended by the own clock, which begins before the database's: a process that slept knows it at once. */
  readonly held: HeldLease | undefined
  /** Throws BATON_SEALER_OTHER_WITNESS. */
  take(): Promise<Taken>
  /** Whether it is still held, by the word of the database. */
  confirm(): Promise<boolean>
  /** After the database has refused it. */
  drop(): void
  /** Whoever waits takes it at once. */
  release(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export function createLease(options: LeaseOptions): Lease {
  const { pool, holder, leaseMs, firstWitness: key, isAnchorFirstStart, logger } = options
  const witness = key === undefined ? null : formatVerifierKey(key)
  let lease: (HeldLease & { readonly untilMs: number }) | undefined
  let isRestarted = true

  async function confirm(): Promise<boolean> {
    const before = lease
    if (before === undefined) return false
    const askedMs = performance.now()
    const isRenewed = await renewSealLease(pool, before, leaseMs)
    if (lease === before) lease = isRenewed ? { ...before, untilMs: askedMs + leaseMs } : undefined
    return isRenewed
  }

  const renewing = every({
    name: 'seal-lease',
    everyMs: leaseMs / 3,
    run: async () => void (await confirm()),
    failed: (error) => logger.warn({ event: 'seal.lease_failed', code: codeOf(error), error }),
  })
  return {
    get held() {
      return lease !== undefined && performance.now() < lease.untilMs ? lease : undefined
    },
    async take() {
      const askedMs = performance.now()
      const answer = await takeSealLease(pool, {
        holder,
        leaseMs,
        witness,
        isRestarted,
        isAnchorFirstStart,
      })
      isRestarted = false
      if (answer.outcome === 'other_witness') throw otherWitness(answer.holder)
      if (answer.outcome === 'held') return { ...answer, taken: false }
      lease = { epoch: answer.epoch, holder, untilMs: askedMs + leaseMs }
      logger.info({ event: 'seal.lease_taken', epoch: answer.epoch })
      return { taken: true }
    },
    confirm,
    drop: () => void (lease = undefined),
    async release() {
      const before = lease
      lease = undefined
      if (before !== undefined) await releaseSealLease(pool, before)
    },
    start: () => renewing.start(),
    stop: () => renewing.stop(),
  }
}

const otherWitness = (holder: string) =>
  permanent(
    'BATON_SEALER_OTHER_WITNESS',
    `the sealer before this one (${holder}) asked another witness first, or this one asks none`,
    {
      fix: 'Give every sealer of the log BATON_SEALER_STANDBY=1 and the same first witness. Where the witness is another one on purpose, stop all of them, and start one with BATON_SEAL_ANCHOR_FIRST_START=1 once.',
    },
  )
