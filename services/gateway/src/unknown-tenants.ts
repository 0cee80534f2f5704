// Keys of a tenant that nobody has added can send nothing: whoever starts the gateway is told, before their users are.
import { DEFAULT_TENANT } from '@baton/ledger'
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { listTenants } from '@baton/store'
import type { Pool } from '@baton/store'
import type { ApiKey } from './api-keys.ts'

interface TellParts {
  readonly pool: Pool
  readonly apiKeys: ReadonlyMap<string, ApiKey>
  readonly logger: Logger
}

/** Logs each tenant of a key that the database does not have; while it does not answer, nothing. */
export async function tellUnknownTenants({ pool, apiKeys, logger }: TellParts): Promise<void> {
  const wanted = new Set([...apiKeys.values()].map(({ tenant }) => tenant))
  wanted.delete(DEFAULT_TENANT)
  if (wanted.size === 0) return
  try {
    for (const { tenant } of await listTenants(pool)) wanted.delete(tenant)
    for (const tenant of wanted) logger.warn({ event: 'tenant.unknown', tenant })
  } catch (error) {
    logger.warn({ event: 'tenants.unread', code: codeOf(error) })
  }
}
