// The parameters of the send statement: one array per column, and all bodies as one binary value.
import type { NewHandoff } from './send.ts'

/** In the order of the parameters $1 to $29 of the statement in send.ts. */
export function sendValues(handoffs: readonly NewHandoff[]): unknown[] {
  const column = <Key extends keyof NewHandoff>(key: Key) => handoffs.map((h) => h[key])
  const { blob, starts } = concatenate(handoffs.flatMap((h) => [h.body, h.checkpoint]))
  return [
    column('handoffId'),
    column('taskId'),
    column('parentId'),
    column('fromAgent'),
    column('fromVersion'),
    column('fromExecution'),
    column('toAgent'),
    column('toVersion'),
    column('priority'),
    handoffs.map((h) => (h.requiresApproval ? 'AWAITING_APPROVAL' : 'QUEUED')),
    column('attemptsMax'),
    column('keyId'),
    column('signature'),
    column('traceparent'),
    column('tracestate'),
    column('expiresAt'),
    column('spentMicroUSD'),
    column('remainingMicroUSD'),
    blob,
    handoffs.map((_, index) => starts[2 * index]),
    handoffs.map((h) => h.body.byteLength),
    handoffs.map((_, index) => starts[2 * index + 1]),
    handoffs.map((h) => h.checkpoint.byteLength),
    handoffs.map((h) => Buffer.from(h.sha256)),
    handoffs.map((h) => Buffer.from(h.checkpointSha256)),
    column('checkpointId'),
    handoffs.map((h) => Buffer.from(h.requestSha256)),
    column('addedCostMicroUSD'),
    column('sentBy'),
  ]
}

// Postgres counts bytes of a bytea from 1.
export function concatenate(parts: readonly Uint8Array[]): { blob: Buffer; starts: number[] } {
  const starts: number[] = []
  let next = 1
  for (const part of parts) {
    starts.push(next)
    next += part.byteLength
  }
  return { blob: Buffer.concat(parts), starts }
}
