// What an agent does in the world outside: one line in a file, under the key that stays the same whenever the handoff is executed again.
import { appendFileSync } from 'node:fs'
import type { AgentContext } from '@baton/sdk'

/** Whoever reads the file takes each key once, as a payment provider takes an idempotency key. */
export function doOutside(
  who: string,
  { idempotencyKey, handoffId, traceparent }: AgentContext,
): void {
  const key = idempotencyKey('outside')
  const traceId = traceparent.split('-')[1]
  appendFileSync(fileOfEffects(), `${JSON.stringify({ who, key, handoffId, traceId })}\n`)
}

function fileOfEffects(): string {
  const file = process.env['FOUR_EFFECTS']
  if (file === undefined) throw new Error('FOUR_EFFECTS names no file for what is done outside')
  return file
}
