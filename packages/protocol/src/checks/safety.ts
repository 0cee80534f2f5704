// Runs the scanner that the caller brings, and fails closed (E07).
import { DETAILS_MAX } from '../detail.ts'
import type { Detail } from '../detail.ts'
import { readSnapshot } from '../context-snapshot.ts'
import type { HandoffMessage } from '../handoff-message.ts'

/** What this package needs to know of a scanner's verdict; @baton/safety gives more. */
export interface ScanVerdict {
  readonly decision: 'allow' | 'flag' | 'reject'
  readonly findings: readonly { readonly category: string; readonly jsonPointer: string }[]
  /** Names the scanner, where it can be named; a release holds for one scanner only. */
  readonly rulesetVersion?: string
}

export type Scan<V extends ScanVerdict = ScanVerdict> = (message: HandoffMessage) => V

export interface SafetyCheck<V extends ScanVerdict> {
  readonly details: readonly Detail[]
  /** The scanner's own verdict; null when it could not give one. */
  readonly verdict: V | null
}

/** A flagged message passes; a rejected one, or one the scanner fails on, does not. */
export function checkSafety<V extends ScanVerdict>(
  message: HandoffMessage,
  scan: Scan<V>,
): SafetyCheck<V> {
  let opened: HandoffMessage
  try {
    opened = withReadSnapshot(message)
  } catch {
    return { verdict: null, details: [SNAPSHOT_UNREADABLE] }
  }
  try {
    const verdict = scan(opened)
    return { verdict, details: refusalOf(verdict) }
  } catch {
    return { verdict: null, details: [SCAN_FAILED] }
  }
}

// Packed or behind white space, the text of a snapshot is nothing that a scanner sees; its reader sees all of it.
function withReadSnapshot(message: HandoffMessage): HandoffMessage {
  const { contextSnapshot } = message
  if (contextSnapshot === undefined) return message
  const read = { ...contextSnapshot, bytes: readSnapshot(contextSnapshot) }
  return { ...message, contextSnapshot: read }
}

/** Why a verdict refuses a message; empty where it does not. */
export const refusalOf = (verdict: ScanVerdict): readonly Detail[] =>
  verdict.decision === 'reject' ? findingsOf(verdict) : []

/** Names the class and the place of a finding, never the pattern that caught it. */
function findingsOf({ findings }: ScanVerdict): readonly Detail[] {
  const details = findings.slice(0, DETAILS_MAX).map(({ category, jsonPointer }) => ({
    pointer: jsonPointer,
    rule: `safety.${category}`,
    message: `the text was judged unsafe: ${category}`,
    fix: REVIEW,
  }))
  return details.length > 0 ? details : [UNSAFE]
}

const REVIEW = 'It waits in the dead letter queue for a person, who can release it.'

const UNSAFE: Detail = {
  pointer: '',
  rule: 'safety',
  message: 'the message was judged unsafe',
  fix: REVIEW,
}

const SCAN_FAILED: Detail = {
  pointer: '',
  rule: 'safety.unavailable',
  message: 'the safety scanner could not judge the message',
  fix: REVIEW,
}

const SNAPSHOT_UNREADABLE: Detail = {
  pointer: '/contextSnapshot',
  rule: 'safety.snapshot',
  message:
    'the context snapshot cannot be judged: it does not unpack, or its digest is of other bytes',
  fix: 'Send at most 1 MiB in the encoding that is named, with the SHA-256 of what it decodes to.',
}
