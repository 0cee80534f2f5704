// Forms that several routes ask for.
import { UUID as ID } from '@baton/ledger'

export const UUID = { type: 'string', pattern: ID.source }
export const HASH = { type: 'string', pattern: '^[0-9a-f]{64}$' }
export const COUNT = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

/** An object with these members; others are let through. */
export const record = (
  properties: Record<string, object>,
  optional: Record<string, object> = {},
) => ({
  type: 'object',
  required: Object.keys(properties),
  properties: { ...properties, ...optional },
})

export const BY_TASK = record({ taskId: UUID })

export interface ByTask {
  Params: { taskId: string }
}
