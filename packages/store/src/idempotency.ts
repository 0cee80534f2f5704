// One answer per Idempotency-Key: the key commits with the send it stands for.
import { run, tables } from './database.ts'
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
  const { apiKeyId, key, requestSha256, handoffId } = request
  const taken = tables
    .insertInto('idempotency_key')
    .values({
      api_key_id: apiKeyId,
      key,
      request_sha256: Buffer.from(requestSha256),
      handoff_id: handoffId,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('key')
  if ((await run(db, 'take_idempotency_key', taken)).length > 0) return { kind: 'new' }
  const known = tables
    .selectFrom('idempotency_key')
    .select(['request_sha256 as requestSha256', 'handoff_id as handoffId'])
    .where('api_key_id', '=', apiKeyId)
    .where('key', '=', key)
  const [first] = await run(db, 'find_idempotency_key', known)
  return first !== undefined && first.requestSha256.equals(requestSha256)
    ? { kind: 'repeated', handoffId: first.handoffId }
    : { kind: 'other_request' }
}

/** Has a key that the caller's transaction took stand for a handoff that had been sent before. */
export async function repointIdempotencyKey(
  db: Database,
  { apiKeyId, key, handoffId }: Omit<KeyedRequest, 'requestSha256'>,
): Promise<void> {
  const written = tables
    .updateTable('idempotency_key')
    .set({ handoff_id: handoffId })
    .where('api_key_id', '=', apiKeyId)
    .where('key', '=', key)
  await run(db, 'repoint_idempotency_key', written)
}
