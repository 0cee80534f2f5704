// The seal log as this sealer signs it: on its own disk first, then in the database.
import { createLogClock, publishSeal, readDatabaseClock } from '@baton/audit'
import type { HeldLease, StoredSeal } from '@baton/audit'
import { formatVerifierKey, readSealEntry, SIGNATURE_TYPES, verifierKey } from '@baton/ledger'
import type { SealEntry } from '@baton/ledger'
import { crashPoint } from '@baton/runtime'
import type { CheckedChains } from './check-chains.ts'
import { ringOf } from './seal-ring.ts'
import type { SealingKey, SealRing } from './seal-ring.ts'
import type { SealerOptions } from './sealer-options.ts'
import { signSeal } from './sign-seal.ts'
import { readState, writeState } from './state-file.ts'
import type { SealerState } from './state-file.ts'

export type SealLog = ReturnType<typeof createSealLog>

export function createSealLog(options: SealerOptions) {
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
    async sign(chains: CheckedChains['chains'], tasks: SealerState['tasks']): Promise<SealerState> {
      await clock.compare()
      const nowMicros = clock.nowMicros()
      const next = signSeal(chains, { ring, nowMicros, previous: state, tasks })
      signedAt = performance.now()
      return next
    },
    /** From here on it is what this sealer knows, also after a crash. */
    async keep(next: SealerState): Promise<void> {
      crashPoint('sealer.before_state')
      // What anchors have acknowledged while it was signed counts too.
      const kept = { ...next, anchored: newestOf(state?.anchored ?? {}, next.anchored) }
      await writeState(statePath, kept)
      state = kept
      ring = ringOf(signingKeys, origin, state)
    },
    /** Gives the database the newest seal if it may lack it. */
    async publish(held: HeldLease): Promise<StoredSeal> {
      if (state === undefined || isPublished()) return 'stored'
      crashPoint('sealer.before_publish')
      const { seal } = state
      const outcome = await publishSeal(pool, held, seal)
      if (outcome === 'stored') publishedSeq = seal.seq
      return outcome
    },
    rememberAnchored(anchored: SealerState['anchored']): void {
      if (state !== undefined) state = { ...state, anchored: { ...state.anchored, ...anchored } }
    },
  }
}

const newestOf = (
  left: SealerState['anchored'],
  right: SealerState['anchored'],
): SealerState['anchored'] =>
  Object.fromEntries(
    Object.entries({ ...left, ...right }).map(([name, tree]) => {
      const before = left[name]
      return [name, before !== undefined && before.size > tree.size ? before : tree]
    }),
  )

/** For the settings of witnesses, and for policies. */
function sayKeys({ current, next }: SealRing, { origin, logger }: SealerOptions): void {
  const keyOf = ({ publicKey }: SealingKey) =>
    formatVerifierKey(verifierKey(origin, SIGNATURE_TYPES.ed25519, publicKey))
  logger.info({ event: 'seal.log', key: keyOf(current), ...(next && { next: keyOf(next) }) })
}

export const newestEntry = (state: SealerState | undefined): SealEntry | undefined =>
  state && readSealEntry(state.seal.body)
