// One answer per Idempotency-Key: the key commits with the send it stands for.
import { run } from './database.ts'
import type { Database } from './database.ts'

export interface KeyedRequest {
  readonly apiKeyId: string
  readonly key: string
  readonly requestSha256: Uint8Array
  readonly handoffId: string
}

export type KeyOutcome =
  | { readonly kind: 'new' }
  | { readonly kind: 'repeated'; readonly handoffId: string }
  | { readonly kind: 'other_request' }

/**
 * Takes the key in the caller's transaction. A second request with the same key waits here until
 * the first has committed; 55P03 (lock timeout) means that the first is still running.
 */
export async function takeIdempotencyKey(db: Database, request: KeyedRequest): Promise<KeyOutcome> {
  const taken = await run(
    db,
    'take_idempotency_key',
    `insert into idempotency_key (api_key_id, key, request_sha256, handoff_id)
     values ($1, $2, $3, $4) on conflict do nothing returning key`,
    [request.apiKeyId, request.key, Buffer.from(request.requestSha256), request.handoffId],
  )
  if (taken.length > 0) return { kind: 'new' }
  const [first] = await run<{ requestSha256: Buffer; handoffId: string }>(
    db,
    'find_idempotency_key',
    `select request_sha256 as "requestSha256", handoff_id as "handoffId" from idempotency_key
     where api_key_id = $1 and key = $2`,
    [request.apiKeyId, request.key],
  )
  return first !== undefined && first.requestSha256.equals(request.requestSha256)
    ? { kind: 'repeated', handoffId: first.handoffId }
    : { kind: 'other_request' }
}
