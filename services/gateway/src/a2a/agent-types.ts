// The agent types that a caller may be told of: those with a live worker that its tenant reaches.
import { DEFAULT_TENANT } from '@baton/ledger'
import { shareReading } from '@baton/runtime'
import { listLiveAgents } from '@baton/store'
import type { LiveAgentView, Pool } from '@baton/store'
import { actFor } from '../acting.ts'

export interface AgentTypes {
  /** Those of a tenant, by name; strangers are told of the default one's. */
  list(tenant?: string): Promise<readonly LiveAgentView[]>
  find(type: string, tenant?: string): Promise<LiveAgentView | undefined>
}

const LISTED_MAX = 1_000
const FRESH_MS = 2_000
const TENANTS_MAX = 1_000

export function createAgentTypes(tenantPool: Pool): AgentTypes {
  const readers = new Map<string, () => Promise<readonly LiveAgentView[]>>()
  const list = (tenant = DEFAULT_TENANT): Promise<readonly LiveAgentView[]> => {
    const known = readers.get(tenant)
    if (known !== undefined) return known()
    const read = shareReading(
      () => actFor(tenant, () => listLiveAgents(tenantPool, LISTED_MAX)),
      FRESH_MS,
    )
    if (readers.size >= TENANTS_MAX) readers.clear()
    readers.set(tenant, read)
    return read()
  }
  return {
    list,
    find: async (type, tenant) => (await list(tenant)).find((one) => one.type === type),
  }
}
