// The way to the lease: a sealer waits for it, goes on where whoever held it has ended, and only then seals.
import type { Anchor } from '@baton/audit'
import { permanent } from '@baton/runtime'
import { setTimeout as pause } from 'node:timers/promises'
import type { Lease } from './lease.ts'
import type { Phase } from './phase.ts'
import type { Publishing } from './publishing.ts'
import type { SealLog } from './seal-log.ts'
import type { SealerOptions } from './sealer-options.ts'
import type { StandBy } from './stand-by.ts'
import { checkStart, checkStartPatiently } from './start-checks.ts'

interface TakeOverParts extends Pick<SealerOptions, 'pool' | 'logger'> {
  readonly log: SealLog
  readonly lease: Lease
  readonly phase: Phase
  readonly publishing: Publishing
  /** Undefined where no witness is asked first: then it is the only sealer of its log. */
  readonly standBy: StandBy | undefined
  /** All but the first witness. */
  readonly others: readonly Anchor[]
  /** Another sealer may have brought the map of tasks further. */
  readonly forgetMap: () => void
}

export function createTakeOver(parts: TakeOverParts) {
  const { pool, logger, log, lease, phase, publishing, standBy, others } = parts

  async function goOn(check: typeof checkStart): Promise<void> {
    parts.forgetMap()
    const reached = await standBy?.reach(log.state)
    if (reached?.kind === 'halted') return phase.halt(reached.findings)
    if (reached?.state !== undefined) await publishing.take(reached.state)
    if (lease.held === undefined || phase.isHalted) return
    await check(log.state, { pool, anchors: others, logger })
    if (standBy === undefined) await publishing.finish()
    const { held } = lease
    if (held === undefined || phase.isHalted) return
    phase.begin()
    logger.info({ event: 'seal.leading', epoch: held.epoch, seals: log.state?.tree.size ?? 0 })
  }

  return {
    /** Follows who seals, and takes over when the lease is free. Answers whether it has its place: it seals, or stands by. */
    async waitForLease(): Promise<boolean> {
      if (lease.held === undefined) {
        const followed = await standBy?.follow(log.state)
        if (followed?.kind === 'halted') phase.halt(followed.findings)
        if (phase.isHalted) return false
        const state = followed?.kind === 'reached' ? followed.state : undefined
        if (state !== undefined && state !== log.state) await log.keep(state)
        if (!(await lease.take()).taken) {
          phase.standBy()
          return standBy !== undefined
        }
      }
      await goOn(checkStart)
      return true
    },
    /** Throws BATON_SEALER_ELSEWHERE where another sealer goes on holding the lease: without a witness there is no second one. */
    async takeAlone(): Promise<void> {
      await waitAlone(lease)
      await goOn(checkStartPatiently)
    },
  }
}

/** Beyond the end of a lease that somebody who died has left. */
const GRACE_MS = 2_000
const ASK_AGAIN_MS = 250

async function waitAlone(lease: Lease): Promise<void> {
  let untilMs = Infinity
  for (;;) {
    const answer = await lease.take()
    if (answer.taken) return
    untilMs = Math.min(untilMs, performance.now() + answer.leftMs + GRACE_MS)
    const waitMs = Math.min(answer.leftMs, ASK_AGAIN_MS)
    if (performance.now() + waitMs > untilMs) throw elsewhere(answer.holder)
    await pause(waitMs)
  }
}

const elsewhere = (holder: string) =>
  permanent('BATON_SEALER_ELSEWHERE', `another sealer seals this log: ${holder}`, {
    fix: 'Stop one of the two. To have one stand by, give both BATON_SEALER_STANDBY=1 and the same witness: infra/sealer-standby.md.',
  })
