// What an erasure is asked and what it answers; no answer names the person.
import type { SegmentVerdict } from '@baton/ledger'
import type { SegmentAt } from './erased-segments.ts'
import type { Erasure, ErasureProof } from './erasures.ts'

/** One place where data of the person stood: how many items before and after, and why where there are none. */
export interface ErasedStore {
  readonly name: string
  readonly before: number
  readonly after: number
  readonly note?: string
}

/** What of the person is kept where the hot store is not: segments, and objects that hold them encrypted. */
export interface ColdSegments {
  readonly segments: readonly SegmentAt[]
  readonly stores: readonly ErasedStore[]
}

export interface ErasurePlan extends Pick<
  Erasure,
  'id' | 'basis' | 'requestedBy' | 'handoffIds' | 'taskIds'
> {
  readonly subject: string
}

export interface Planned {
  readonly state: 'PLANNED' | 'DEFERRED'
  readonly stores: readonly ErasedStore[]
  /** Tasks under a legal hold: nothing is erased while there is one. */
  readonly heldTaskIds: readonly string[]
}

export type Confirmation = Pick<Erasure, 'id' | 'handoffIds' | 'taskIds'> & {
  readonly subject: string
  readonly confirmedBy: string
}

export type Confirmed =
  | { readonly kind: 'erased'; readonly erasure: Erasure }
  | {
      readonly kind: 'refused'
      readonly why: 'unknown' | 'own' | 'other_subject' | 'held' | 'state'
    }

/** What every store answered, and the records that prove it; without the person. */
export interface ErasureOutcome {
  readonly erasure: Erasure
  readonly stores: readonly ErasedStore[]
  readonly verdicts: Readonly<Record<SegmentVerdict, number>>
  readonly records: readonly ErasureProof[]
}
