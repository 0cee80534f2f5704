// Whose work a key may claim: of agent types of its own tenant, and of those only that it names.
import { DEFAULT_TENANT } from '@baton/ledger'
import { ProblemError } from '@baton/http/server'
import { findTenantOfAgent } from '@baton/store'
import type { Database } from '@baton/store'
import type { Access } from '../api-keys.ts'

/** Throws 403 where the key may not claim the work of this agent type. */
export async function requireOwnType(
  db: Database,
  { agentTypes, tenant }: Access,
  type: string,
): Promise<void> {
  if (agentTypes?.has(type) === false) throw AGENT_TYPE_REFUSED
  // A name without a tenant is the default one's.
  const owner = type.includes('/') ? await findTenantOfAgent(db, type) : DEFAULT_TENANT
  if (owner !== tenant) throw AGENT_TYPE_REFUSED
}

const AGENT_TYPE_REFUSED = new ProblemError({
  status: 403,
  code: 'BATON_AGENT_TYPE_REFUSED',
  detail: 'the API key may not claim the work of this agent type',
  fix: 'Use a key for this agent type, of the tenant whose it is (<tenant>/<name>), or ask the operator to add the type to the key.',
})
