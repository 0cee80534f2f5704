// Who may send with priority 0, which passes bounds that hold for everybody else.
import { ProblemError } from '@baton/http/server'
import type { ApiKey } from './api-keys.ts'

const CRITICAL = 0

/** Throws 403 where the key may not send with this priority. */
export function requireOwnPriority(
  { scopes }: Pick<ApiKey, 'scopes'>,
  priority: number | undefined,
): void {
  if (priority !== CRITICAL || scopes.has('handoffs:send-critical')) return
  throw PRIORITY_REFUSED
}

const PRIORITY_REFUSED = new ProblemError({
  status: 403,
  code: 'BATON_PRIORITY_REFUSED',
  detail: 'the API key may not send with priority 0',
  fix: 'Send with priority 1, or ask the operator for a key with the scope handoffs:send-critical.',
})
