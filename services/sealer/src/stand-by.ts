// A sealer that stands by, and one that takes over: its memory is what the witness cosigned, never what the database alone says.
import { inSnapshot, readLastSeal, readProposedSeal, readSeal, scanSeals } from '@baton/audit'
import type { Pool, SealRow, Snapshot } from '@baton/audit'
import { compactRangeFromState, equalBytes } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import { isTreeOf } from './first-witness.ts'
import type { FirstWitness } from './first-witness.ts'
import { followSeals } from './follow-seals.ts'
import { rebuildState } from './recover.ts'
import type { RecoverOptions } from './recover.ts'
import { requireMemory } from './start-checks.ts'
import type { SealedPart, SealerState } from './state-file.ts'

type StandByOptions = Pick<
  RecoverOptions,
  'pool' | 'origin' | 'signingKeys' | 'batchKeys' | 'cold'
> & { readonly witness: FirstWitness }

/** `halted`: what was found must not be sealed. */
export type SealsReached =
  | { readonly kind: 'reached'; readonly state: SealerState | undefined }
  | { readonly kind: 'halted'; readonly findings: readonly Finding[] }

export interface StandBy {
  /** What the witness has cosigned by now, as far as the database has it. */
  follow(state: SealerState | undefined): Promise<SealsReached>
  /**
   * What the next seal continues, once the lease is held: all that is published, and the seal that was about to be. Throws
   * BATON_SEALER_UNWITNESSED where the database has seals that the witness and this sealer do not know.
   */
  reach(state: SealerState | undefined): Promise<SealsReached>
}

/** Seals that are followed one by one, so that the map of tasks that one of them commits to is known. */
const ONE_BY_ONE_MAX = 64

/** How seals of another one become a state. */
function createFollowing(options: StandByOptions) {
  const { witness } = options
  const { name } = witness.anchor
  const chains = new Map<number, readonly SealedPart[]>()

  const remembered = (state: SealerState): SealerState => {
    chains.set(state.tree.size, state.chains)
    for (const seals of chains.keys()) {
      if (chains.size <= ONE_BY_ONE_MAX) break
      chains.delete(seals)
    }
    return state
  }

  /** What the witness vouches for, read from the first record on: where there is no state to go on from. */
  async function rebuild(published: number): Promise<SealsReached> {
    // It may have cosigned a seal that is about to be published: what it knows more is judged by whoever takes over.
    const latest = async () => {
      const head = await witness.anchor.latest()
      return head && { ...head, size: Math.min(head.size, published), root: null }
    }
    const anchors = () => [{ ...witness.anchor, latest }]
    const rebuilt = await rebuildState({ ...options, anchors })
    if (rebuilt.kind === 'refused') return { kind: 'halted', findings: rebuilt.findings }
    const { state } = rebuilt
    const known = (await witness.anchor.latest())?.size ?? 0
    if (known < state.tree.size) throw unwitnessed(name, known, state.tree.size)
    return reachedAt(remembered({ ...state, anchored: { [name]: state.tree } }))
  }

  /** Seals behind `state`, up to `toSeq` or `proposal`. */
  async function followTo(
    snapshot: Snapshot,
    state: SealerState | undefined,
    { toSeq, proposal }: { readonly toSeq: number; readonly proposal?: SealRow | undefined },
  ): Promise<SealsReached | undefined> {
    const from = state?.tree.size ?? 0
    const seals = sealsBetween(snapshot, { from, toSeq, proposal })
    const chainsAt = (size: number) => chains.get(size)
    const followed = await followSeals(snapshot, { ...options, state, seals, chainsAt })
    if (followed.kind === 'gone') return undefined
    if (followed.kind === 'altered') return { kind: 'halted', findings: followed.findings }
    return reachedAt(followed.state && remembered(followed.state))
  }

  return { rebuild, followTo }
}

export function createStandBy(options: StandByOptions): StandBy {
  const { pool, witness } = options
  const { name } = witness.anchor
  const { rebuild, followTo } = createFollowing(options)

  async function goOnFrom(
    begun: SealsReached,
    to: { readonly toSeq: number; readonly proposal: SealRow | undefined },
  ): Promise<SealsReached | undefined> {
    if (begun.kind === 'halted') return begun
    return inSnapshot(pool, (snapshot) => followTo(snapshot, begun.state, to))
  }

  return {
    async follow(state) {
      const size = state?.tree.size ?? 0
      const last = await readLastSeal(pool)
      const published = last === undefined ? 0 : last.seq + 1
      if (state === undefined) return published === 0 ? reachedAt(state) : rebuild(published)
      const fault = await faultOf(pool, state, published)
      if (fault !== undefined) return fault
      const seen = await witness.seen()
      if (seen === undefined || seen.size <= size || seen.size > published) return reachedAt(state)
      const reached = await inSnapshot(pool, async (snapshot) => {
        let one: SealsReached | undefined = reachedAt(state)
        const first = seen.size - size > ONE_BY_ONE_MAX ? seen.size : size + 1
        for (let toSeq = first; toSeq <= seen.size && one?.kind === 'reached'; toSeq += 1)
          one = await followTo(snapshot, one.state, { toSeq })
        return one
      })
      if (reached === undefined) return rebuild(published)
      if (reached.kind === 'halted' || reached.state === undefined) return reached
      const { tree } = reached.state
      if (!isTreeOf(seen, compactRangeFromState(tree)))
        return halted(
          size,
          'SEAL_ANCHOR',
          `${name} cosigned another seal log of ${seen.size} entries`,
        )
      return reachedAt({ ...reached.state, anchored: { ...state.anchored, [name]: tree } })
    },
    async reach(state) {
      const head = await witness.anchor.latest()
      requireMemory(state?.anchored[name]?.size ?? 0, { name, head })
      const last = await readLastSeal(pool)
      const published = last === undefined ? 0 : last.seq + 1
      const proposal = await readProposedSeal(pool, published)
      const known = { published, proposal, cosigned: head?.size ?? 0, state }
      const fault = beyondReach(name, known) ?? (state && (await faultOf(pool, state, published)))
      if (fault !== undefined) return fault
      if (state !== undefined && state.tree.size > published) return ownSeal(state, known)
      const begun =
        state === undefined && published > 0 ? await rebuild(published) : reachedAt(state)
      const to = { toSeq: published, proposal }
      return (await goOnFrom(begun, to)) ?? (await goOnFrom(await rebuild(published), to)) ?? begun
    },
  }
}

interface Known {
  readonly published: number
  readonly proposal: SealRow | undefined
  /** How many seals the witness knows. */
  readonly cosigned: number
  readonly state: SealerState | undefined
}

/** Throws BATON_SEALER_UNWITNESSED. */
function beyondReach(
  name: string,
  { published, proposal, cosigned, state }: Known,
): SealsReached | undefined {
  const own = state?.tree.size ?? 0
  const there = Math.max(published + (proposal === undefined ? 0 : 1), own)
  if (cosigned > there) {
    const message = `${name} knows ${cosigned} seals, the database has ${published}`
    return halted(there, 'SEAL_ANCHOR', message)
  }
  if (cosigned < published && own < published) throw unwitnessed(name, cosigned, published)
  return undefined
}

/** What this sealer wrote down and could not publish any more. */
function ownSeal(state: SealerState, { published, proposal }: Known): SealsReached {
  const isSame = proposal === undefined || equalBytes(proposal.body, state.seal.body)
  return isSame ? reachedAt(state) : halted(published, 'SEAL_LOG', OTHER_ENTRY)
}

/** Whether the database holds less than this sealer has seen of it, or something else. The newest seal may be about to be published. */
async function faultOf(
  pool: Pool,
  { tree, seal }: SealerState,
  published: number,
): Promise<SealsReached | undefined> {
  if (tree.size > published + 1) {
    const message = `the database has ${published} seals, and had ${tree.size}`
    return halted(published, 'SEAL_LOG', message)
  }
  if (tree.size > published) return undefined
  const row = await readSeal(pool, seal.seq)
  const isSame = row !== undefined && equalBytes(row.body, seal.body)
  return isSame ? undefined : halted(seal.seq, 'SEAL_LOG', OTHER_ENTRY)
}

export const OTHER_ENTRY = 'another entry stands in its place in the database'

async function* sealsBetween(
  snapshot: Snapshot,
  range: { readonly from: number; readonly toSeq: number; readonly proposal: SealRow | undefined },
): AsyncGenerator<SealRow> {
  const { from, toSeq, proposal } = range
  for await (const page of scanSeals(snapshot, { fromSeq: from, toSeq })) {
    for (const { seq, body, note } of page) yield { seq, body: Buffer.from(body), note }
  }
  if (proposal !== undefined) yield proposal
}

const reachedAt = (state: SealerState | undefined): SealsReached => ({ kind: 'reached', state })

const halted = (seq: number, rule: Finding['rule'], message: string): SealsReached => ({
  kind: 'halted',
  findings: [{ origin: 'seals', seq, rule, message }],
})

const unwitnessed = (name: string, known: number, published: number) =>
  permanent(
    'BATON_SEALER_UNWITNESSED',
    `the database has ${published} seals, and ${name} has cosigned ${known}`,
    {
      fix: 'Start the sealer first that published them, with BATON_SEALER_STANDBY=1: it shows them to the witness. Where nobody did, treat them as tampering. Nothing is signed before.',
    },
  )
