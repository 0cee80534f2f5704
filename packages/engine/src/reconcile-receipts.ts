// Compares the receipts that executions hold with the audit log: two databases witness each other.
import type { AuditClient } from '@baton/audit/client'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Alert, HeldReceipt, Pool } from '@baton/store'
import {
  alertKey,
  listExecutionsAfter,
  listNewestReceipts,
  raiseAlert,
  readReceiptProgress,
  writeReceiptProgress,
} from '@baton/store'
import type { Metrics } from '@baton/telemetry'

interface ReconcileParts {
  readonly client: Pick<AuditClient, 'checkReceipts'>
  /** A minute by default. */
  readonly everyMs?: number
  readonly metrics: Pick<Metrics, 'auditTamperDetectedTotal' | 'receiptsUnmatchedTotal'>
  readonly logger: Logger
}

/** What is compared, and how far a pass has come. */
interface Receipts {
  listNewest(tasks: number): Promise<readonly HeldReceipt[]>
  listAfter(handoffId: string, limit: number): ReturnType<typeof listExecutionsAfter>
  readProgress(): Promise<string | undefined>
  writeProgress(handoffId: string): Promise<void>
  /** The log contradicts them: somebody must hear of it. */
  tellContradicted(): Promise<unknown>
}

type Unmatched = 'waiting' | 'different' | 'missing'

const EVERY_MS = 60_000
const NEWEST_TASKS = 1_000
const PASS_EXECUTIONS = 5_000
const FIRST = '00000000-0000-0000-0000-000000000000'
const SHOWN_MAX = 20

/** One alert for all of them, counted up once a minute until somebody has looked. */
const CONTRADICTED: Alert = {
  key: alertKey('log.receipts_unmatched'),
  kind: 'log.receipts_unmatched',
  severity: 'page',
  reason: 'RECEIPTS_UNMATCHED',
  subject: {},
}

/**
 * Once a minute: the newest receipts, and the next five thousand of a pass over all of them that
 * begins anew when it is through. A restart goes on where the pass was. Any number may run.
 */
export function createReceiptReconciler(parts: ReconcileParts & { readonly pool: Pool }): Service {
  const { pool } = parts
  return reconcile(parts, {
    listNewest: (tasks) => listNewestReceipts(pool, tasks),
    listAfter: (handoffId, limit) => listExecutionsAfter(pool, handoffId, limit),
    readProgress: () => readReceiptProgress(pool),
    writeProgress: (handoffId) => writeReceiptProgress(pool, handoffId),
    tellContradicted: () => raiseAlert(pool, CONTRADICTED),
  })
}

/** The same for receipts that are kept anywhere. */
export function reconcile(parts: ReconcileParts, receipts: Receipts): Service {
  const { client, metrics, logger, everyMs = EVERY_MS } = parts

  async function compare(held: readonly HeldReceipt[]): Promise<void> {
    if (held.length === 0) return
    const states = await client.checkReceipts(held)
    const bad = held.filter((_, at) => isUnmatched(states[at]))
    if (bad.length === 0) return
    const isContradicted = count(states.filter(isUnmatched))
    const shown = bad.slice(0, SHOWN_MAX)
    logger.error({
      event: 'receipts.unmatched',
      count: bad.length,
      handoffs: shown.map(({ handoffId, epoch }) => ({ handoffId, epoch })),
      states: shown.map((receipt) => states[held.indexOf(receipt)]),
    })
    if (isContradicted) await receipts.tellContradicted()
  }

  /** Without a sealer every receipt waits: that has an alert of its own, and is no tampering. */
  function count(unmatched: readonly Unmatched[]): boolean {
    for (const state of unmatched) metrics.receiptsUnmatchedTotal[state].inc()
    const isContradicted = unmatched.some((state) => state !== 'waiting')
    if (isContradicted) metrics.auditTamperDetectedTotal.inc()
    return isContradicted
  }

  async function round(): Promise<void> {
    await compare(await receipts.listNewest(NEWEST_TASKS))
    const after = (await receipts.readProgress()) ?? FIRST
    const executions = await receipts.listAfter(after, PASS_EXECUTIONS)
    await compare(
      executions.flatMap(({ hash, ...rest }) => (hash === null ? [] : [{ ...rest, hash }])),
    )
    const isThrough = executions.length < PASS_EXECUTIONS
    await receipts.writeProgress(isThrough ? FIRST : (executions.at(-1)?.handoffId ?? FIRST))
  }

  return every({
    name: 'receipts',
    everyMs,
    firstAfterMs: everyMs,
    run: round,
    failed: (error) => logger.warn({ event: 'receipts.unchecked', code: codeOf(error) }),
  })
}

const isUnmatched = (state: string | undefined): state is Unmatched =>
  state === 'waiting' || state === 'different' || state === 'missing'
