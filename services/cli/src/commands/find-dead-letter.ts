// A person names a dead letter by the id of its handoff or its task, or by the first digits of one.
import type { GatewayClient } from '../gateway-client.ts'
import { wholeId } from './whole-id.ts'

export interface Evidence {
  readonly pointer?: string
  readonly rule?: string
  readonly category?: string
  readonly view?: string
  readonly span?: readonly [number, number]
  readonly message?: string
}

export interface Proposal {
  readonly proposal: string
  readonly action: 'RELEASE' | 'REDACT'
  readonly reviewers: readonly { readonly reviewer: string; readonly at: string }[]
}

/** A dead letter as the gateway lists it. */
export interface DeadLetter {
  readonly handoffId: string
  readonly taskId: string
  readonly fromAgent: string
  readonly toAgent: string
  readonly reason: string
  readonly cluster: string | null
  readonly details: readonly Evidence[]
  readonly round: number
  readonly createdAt: string
  readonly askedAt: string | null
  readonly resolvedAt: string | null
  readonly resolution: string | null
  readonly branch: string | null
}

export interface DeadLetterCase extends DeadLetter {
  readonly sentBy: string | null
  readonly bytes: number
  /** Lower-case hex digest of the quarantined bytes. */
  readonly sha256: string
  /** The scanner that judged it. */
  readonly artefactId: string | null
  readonly release: { readonly needed: number | null } | null
  readonly redact: { readonly needed: number | null } | null
  readonly proposals: readonly Proposal[]
  /** What the log says of it; null where it could not be asked, left out by gateways that do not say it. */
  readonly recorded?: {
    readonly verified: boolean
    readonly records: readonly {
      readonly event: string
      readonly recordedAt: string
      readonly actor: string | null
      readonly recordHash: string
      readonly assurance: string
    }[]
    readonly unrecorded: readonly string[]
  } | null
}

const LOOKED_AT_MAX = 500

/** Throws BATON_USAGE, or BATON_DEAD_LETTER_UNKNOWN where no dead letter is meant. */
export async function findDeadLetter(
  gateway: GatewayClient,
  text: string,
): Promise<DeadLetterCase> {
  const { deadLetters } = await gateway.get<{
    deadLetters: readonly { handoffId: string; taskId: string }[]
  }>(`/v2/dead-letters?limit=${LOOKED_AT_MAX}`)
  const handoffId = wholeId(text, {
    ids: deadLetters.map((one) => [one.handoffId, one.taskId]),
    what: 'dead letter',
    code: 'BATON_DEAD_LETTER_UNKNOWN',
    command: 'dlq ls',
  })
  return gateway.get<DeadLetterCase>(`/v2/dead-letters/${handoffId}`)
}
