// An operational database of its own for one test file, and handoffs to put into it.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { claimExecutions, createPool, markExecuting, sendHandoffs } from '@baton/store'
import type { ClaimedHandoff, NewHandoff, Pool } from '@baton/store'
import { acquirePostgres, createStoreDatabase, PASSWORDS, uniqueDatabaseName } from '@baton/testkit'

export interface StoreFixture {
  /** As role `baton_app`, with the services' own session settings. */
  readonly pool: Pool
  /** As a superuser, without them. */
  readonly superuser: Pool
  readonly databaseUrl: string
  readonly adminUrl: string
  readonly database: string
  rows<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** Ends the lease on a handoff: whoever executes it is overtaken by the next claim. */
  leaseExpiry(handoffId: string): Promise<unknown>
  close(): Promise<void>
}

export async function openStore(purpose: string): Promise<StoreFixture> {
  const { adminUrl } = await acquirePostgres()
  const database = uniqueDatabaseName(purpose)
  await createStoreDatabase(adminUrl, database)
  const databaseUrl = storeUrl(adminUrl, { database, user: 'baton_app', password: PASSWORDS.app })
  const open = (url: string) => createPool({ url, applicationName: 'test', connectionsMax: 8 })
  const [pool, superuser] = [open(databaseUrl), open(storeUrl(adminUrl, { database }))]
  const rows = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await superuser.query<Row & Record<string, unknown>>({ text, values })).rows
  return {
    pool,
    superuser,
    databaseUrl,
    adminUrl,
    database,
    rows,
    leaseExpiry: (handoffId) =>
      rows(`update execution set lease_until = now() - interval '1 s' where handoff_id = $1`, [
        handoffId,
      ]),
    async close() {
      await Promise.all([pool.end(), superuser.end()])
    },
  }
}

export function storeUrl(
  adminUrl: string,
  parts: { database: string; user?: string; password?: string },
): string {
  const url = new URL(adminUrl)
  url.pathname = `/${parts.database}`
  if (parts.user !== undefined) url.username = parts.user
  if (parts.password !== undefined) url.password = parts.password
  return url.href
}

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest()

/** A handoff with a budget of one US dollar, nothing of it spent; its task's id is its trace's. */
export function newHandoff(changes: Partial<NewHandoff> = {}): NewHandoff {
  const body = randomBytes(200)
  const checkpoint = randomBytes(100)
  const { taskId = randomUUID() } = changes
  return {
    handoffId: randomUUID(),
    taskId,
    parentId: null,
    branchId: null,
    joinsId: null,
    fromAgent: 'intake',
    fromVersion: '1.0.0',
    fromExecution: randomUUID(),
    toAgent: 'reviewer',
    toVersion: null,
    priority: 2,
    requiresApproval: false,
    attemptsMax: 3,
    keyId: 'k1',
    signature: `hmac-sha256:${'0'.repeat(64)}`,
    traceparent: `00-${taskId.replaceAll('-', '')}-${randomBytes(8).toString('hex')}-01`,
    tracestate: null,
    expiresAt: null,
    spentMicroUSD: 0,
    remainingMicroUSD: 1_000_000,
    addedCostMicroUSD: 0,
    body,
    sha256: sha256(body),
    requestSha256: sha256(body),
    checkpointId: randomUUID(),
    checkpoint,
    checkpointSha256: sha256(checkpoint),
    sentBy: null,
    tenant: null,
    ...changes,
  }
}

/** Claims what is named, with a lease of a minute; fails where the claim is refused. */
export async function claim(
  pool: Pool,
  { handoffId }: { handoffId: string },
  { publishAttempt = 1, leaseMs = 60_000 } = {},
): Promise<ClaimedHandoff> {
  const [claimed] = await claimExecutions(pool, { owner: randomUUID(), leaseMs }, [
    { handoffId, publishAttempt },
  ])
  if (claimed?.kind !== 'claimed') throw new Error(`the claim of ${handoffId} was refused`)
  return claimed
}

export const receiptOf = ({
  handoffId,
  fencingToken,
}: {
  handoffId: string
  fencingToken: number
}) => ({
  handoffId,
  fencingToken,
  auditOrigin: 'test/0',
  auditSeq: 1,
  auditHash: 'ab'.repeat(32),
  deadline: null,
})

/** Sends, claims and starts one handoff. */
export async function executing(
  pool: Pool,
  changes: Partial<NewHandoff> = {},
): Promise<ClaimedHandoff> {
  const handoff = newHandoff(changes)
  await sendHandoffs(pool, [handoff])
  const claimed = await claim(pool, handoff)
  const [started] = await markExecuting(pool, [receiptOf(claimed)])
  if (started === undefined) throw new Error(`${handoff.handoffId} was not started`)
  return claimed
}

/** A lifecycle event of a handoff, as it waits for the audit store. */
export const outboxEventOf = (handoffId: string, entry = '{}') => ({
  id: randomUUID(),
  handoffId,
  entry,
})
