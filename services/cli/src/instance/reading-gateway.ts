// A gateway of the command's own, in this process, with which it reads what no gateway that runs has to tell it.
import { randomBytes } from 'node:crypto'
import { presenceOf, readTrace } from '@baton/audit'
import { createApiKey, createGateway, parseApiKeys } from '@baton/gateway'
import type { AuditReads } from '@baton/gateway'
import type { Logger } from '@baton/runtime'
import { transient } from '@baton/runtime'
import { parseSigningKeys } from '@baton/sdk'
import { createMetrics } from '@baton/telemetry'
import type { AuditReader } from './audit-reader.ts'
import type { OpenedDatabases } from './databases.ts'

export interface ReadingGateway {
  readonly url: string
  /** Lives as long as this gateway, and may change nothing. */
  readonly key: string
  stop(): Promise<void>
}

const LIMITS = {
  rateMax: 100_000,
  runningMax: 16,
  connectionsMax: 16,
  connectionsPerAddressMax: 16,
  outboxMax: 1,
  outboxAgeMaxMs: 1,
}

/** Listens on a free loopback port. Reads the audit log in its database as the auditor would. */
export async function openReadingGateway(
  { databases, audit }: OpenedDatabases,
  { person, logger }: { readonly person: string; readonly logger: Logger },
): Promise<ReadingGateway> {
  const { key, entry } = createApiKey({
    scopes: 'handoffs:read+handoffs:return+metrics:read',
    operator: person,
  })
  const gateway = createGateway({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: databases.urls.gateway,
    // Nothing is signed with it: the only key there is may not send.
    keyRing: parseSigningKeys(`reading:active:${randomBytes(32).toString('base64')}`),
    attemptsMax: 1,
    correctionMs: 1,
    apiKeys: parseApiKeys(entry),
    // There is no auditor to ask: the log is read in its database, and nobody is erased.
    audit: { url: 'http://127.0.0.1', readToken: '', reads: readsOf(audit) },
    limits: LIMITS,
    metrics: createMetrics(),
    logger,
  })
  await gateway.start()
  return { url: gateway.url, key, stop: () => gateway.stop() }
}

const readsOf = ({ pool, cold, covered }: AuditReader): AuditReads => ({
  async trace(taskId) {
    const found = await readTrace(pool, taskId, { covered: await covered(), cold })
    const presence = presenceOf(found)
    return presence === 'there' ? { ...found } : presence
  },
  verify: async () => {
    throw NO_AUDITOR
  },
  ready: async () => true,
  close: () => undefined,
})

const NO_AUDITOR = transient('BATON_AUDIT_UNAVAILABLE', 'no auditor runs to read the whole log')
