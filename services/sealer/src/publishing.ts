// How a signed seal gets out: kept for its place, cosigned by the first witness where there is one, written down, published.
import { isWitnessed, proposeSeal, storeWitnessed } from '@baton/audit'
import { crashPoint } from '@baton/runtime'
import { cosignedNote } from './anchoring.ts'
import type { FirstWitness } from './first-witness.ts'
import type { Lease } from './lease.ts'
import type { Phase } from './phase.ts'
import type { SealLog } from './seal-log.ts'
import type { SealerOptions } from './sealer-options.ts'
import { OTHER_ENTRY } from './stand-by.ts'
import type { SealerState } from './state-file.ts'

interface PublishingParts extends Pick<SealerOptions, 'pool' | 'policy' | 'logger'> {
  readonly log: SealLog
  readonly lease: Lease
  readonly phase: Phase
  readonly witness: FirstWitness | undefined
}

export interface Publishing {
  /** Another sealer may have gone on: nothing more is published until the lease is taken again. */
  stepDown(): void
  /** What was signed and may not be published yet. */
  finish(): Promise<void>
  /** A seal that was signed now, or that whoever had the lease before has left. */
  add(next: SealerState): Promise<void>
  /** The same, of one that is kept for its place already. */
  take(next: SealerState): Promise<void>
  /** A seal as the first witness has cosigned it, where it was the newest one. */
  cosigned(seq: number): readonly string[]
}

export function createPublishing(parts: PublishingParts): Publishing {
  const { pool, policy, logger, log, lease, phase, witness } = parts
  /** Signed and kept for its place: nothing else is signed before it is known whether the witness has it. */
  let proposed: SealerState | undefined
  let cosigned: { readonly seq: number; readonly note: string } | undefined

  function stepDown(): void {
    lease.drop()
    proposed = undefined
    if (!phase.isSealing) return
    phase.standBy()
    logger.warn({ event: 'seal.lease_lost' })
  }

  async function publish(): Promise<void> {
    const { held } = lease
    if (held === undefined) return stepDown()
    const outcome = await log.publish(held)
    if (outcome === 'fenced') stepDown()
    if (outcome === 'other') phase.haltFor('SEAL_LOG', OTHER_ENTRY)
  }

  /** While the witness does not answer, nothing is published. */
  async function publishCosigned(next: SealerState, first: FirstWitness): Promise<void> {
    if (lease.held === undefined) return stepDown()
    const outcome = await first.cosign(next)
    if (outcome.kind === 'conflict') {
      // Whoever took the lease meanwhile went on rightly.
      return (await lease.confirm()) ? phase.haltFor('SEAL_ANCHOR', outcome.message) : stepDown()
    }
    crashPoint('sealer.after_cosign')
    const { tree, seal } = next
    await log.keep(next)
    proposed = undefined
    cosigned = { seq: seal.seq, note: outcome.note }
    await publish()
    const note = cosignedNote(seal.note, [outcome.note])
    if (!log.isPublished()) return
    if (isWitnessed(note, policy)) await storeWitnessed(pool, { size: tree.size, note })
    // Written down with the next seal: whoever reads the state finds what is said here in the database too.
    log.rememberAnchored({ [first.anchor.name]: tree })
  }

  async function propose(next: SealerState, first: FirstWitness): Promise<void> {
    const { held } = lease
    if (held === undefined) return stepDown()
    const outcome = await proposeSeal(pool, held, next.seal)
    if (outcome === 'fenced') return stepDown()
    if (outcome === 'other') return phase.haltFor('SEAL_LOG', OTHER_ENTRY)
    proposed = next
    crashPoint('sealer.after_propose')
    await publishCosigned(next, first)
  }

  return {
    stepDown,
    async finish() {
      if (proposed !== undefined && witness !== undefined) await publishCosigned(proposed, witness)
      else await publish()
    },
    async add(next) {
      if (lease.held === undefined) return stepDown()
      if (witness !== undefined) return propose(next, witness)
      await log.keep(next)
      await publish()
    },
    async take(next) {
      if (witness !== undefined) await publishCosigned(next, witness)
    },
    cosigned: (seq) => (cosigned?.seq === seq ? [cosigned.note] : []),
  }
}
