// Agent types that take nothing which is flagged: for them a flag is a rejection, and the record says that this policy made it one. Pure.
import { hash } from 'node:crypto'
import type { ClassifiedSafety } from './classified.ts'

/** Every agent type, in the set of them. */
const EVERY = '*'

const POLICY = 'REJECTS_FLAGGED'

/** Whether this verdict is a flag, and that agent type is one of those. */
export const isRejectedByPolicy = (
  { decision }: ClassifiedSafety,
  agentType: string,
  rejecting: ReadonlySet<string>,
): boolean => decision === 'flag' && (rejecting.has(agentType) || rejecting.has(EVERY))

/** The same as a rejection. Its finding comes first, so that no number of others pushes it off a list. */
export const byPolicy = (scan: ClassifiedSafety): ClassifiedSafety => ({
  ...scan,
  decision: 'reject',
  findings: [FINDING, ...scan.findings],
  policy: POLICY,
})

/** About the whole message. */
const FINDING: ClassifiedSafety['findings'][number] = {
  ruleId: 'rejects-flagged',
  category: 'policy',
  jsonPointer: '',
  view: 'raw',
  span: [0, 0],
  weight: 1,
  hash: hash('sha256', ''),
  trust: 'data',
}
