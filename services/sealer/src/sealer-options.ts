// What a sealer is made of.
import type { Anchor, ColdStore, Pool } from '@baton/audit'
import type { Policy, VerifierKey } from '@baton/ledger'
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { KeyObject } from 'node:crypto'
import type { SealingKey, SealRing } from './seal-ring.ts'
import type { SealerState } from './state-file.ts'

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
  /** Cosigns each seal before it is published, so that others may stand by; undefined for the only sealer of a log. */
  readonly firstWitness: VerifierKey | undefined
  /** Names this sealer among those of the log: the same after a restart. */
  readonly holder: string
  readonly leaseMs: number
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
