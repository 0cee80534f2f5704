// Whether what waits may be shown: judged as any receiver would judge it, and once for the same bytes, because agents that
// speak gRPC have nothing but to ask again and again.
import { hash } from 'node:crypto'
import { judgeHandoff } from '@baton/protocol'
import type { HandoffMessage, KeyRing } from '@baton/protocol'
import type { Scanner } from '@baton/safety'
import type { PendingHandoff } from '@baton/store'

interface JudgeParts {
  readonly keyRing: KeyRing
  readonly scan: Scanner['scan']
}

type Signed = Pick<PendingHandoff, 'body' | 'keyId' | 'signature'>

/** The message where it passes, undefined where it does not. */
export type JudgePending = (signed: Signed) => HandoffMessage | undefined

/** So many are remembered, the first forgotten first: 100 listings of 100. */
const PASSED_MAX = 10_000

export function createJudgePending({ keyRing, scan }: JudgeParts): JudgePending {
  const passed = new Set<string>()
  return ({ body, keyId, signature }) => {
    const name = `${hash('sha256', body)} ${keyId} ${signature}`
    if (passed.has(name)) return JSON.parse(body.toString('utf8')) as HandoffMessage
    // What was lost on the way is whoever accepts it to find.
    const judging = { agent: undefined, keyRing, scan, lostFacts: 'flag' } as const
    const verdict = judgeHandoff({ bytes: body, keyId, signature }, judging)
    if (!verdict.valid) return undefined
    passed.add(name)
    const [oldest] = passed
    if (passed.size > PASSED_MAX && oldest !== undefined) passed.delete(oldest)
    return verdict.message
  }
}
