// Compares the receipts that executions hold with the audit log: two databases witness each other.
import { codeOf } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'

/** What an execution holds. `hash` is lower-case hex. */
export interface ExecutionReceipt {
  readonly handoffId: string
  readonly epoch: number
  readonly hash: string
}

/** What the audit log says to a receipt; `waiting` is recorded and not sealed for too long. */
export type ReceiptState = 'sealed' | 'recorded' | 'waiting' | 'different' | 'missing'

export interface ReconcileDeps {
  listNewestReceipts(tasks: number): Promise<readonly ExecutionReceipt[]>
  listExecutionsAfter(
    handoffId: string,
    limit: number,
  ): Promise<readonly (Omit<ExecutionReceipt, 'hash'> & { readonly hash: string | null })[]>
  readMark(): Promise<string | undefined>
  writeMark(handoffId: string): Promise<void>
  /** Answer i is about receipt i. Throws transient errors while the auditor does not answer. */
  check(receipts: readonly ExecutionReceipt[]): Promise<readonly ReceiptState[]>
  readonly everyMs?: number
  readonly metrics: Pick<Metrics, 'auditTamperDetectedTotal'>
  readonly logger: Logger
}

const EVERY_MS = 60_000
const NEWEST_TASKS = 1_000
const PASS_EXECUTIONS = 5_000
const FIRST = '00000000-0000-0000-0000-000000000000'
const SHOWN_MAX = 20

/**
 * Once a minute: the newest receipts, and the next five thousand of a pass over all of them that
 * begins anew when it is through. A restart goes on where the pass was. Any number may run.
 */
export function createReceiptReconciler(deps: ReconcileDeps): Service {
  const { logger, everyMs = EVERY_MS } = deps
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false

  async function compare(receipts: readonly ExecutionReceipt[]): Promise<void> {
    if (receipts.length === 0) return
    const states = await deps.check(receipts)
    const bad = receipts.filter((_, at) => /^(?:waiting|different|missing)$/.test(states[at] ?? ''))
    if (bad.length === 0) return
    deps.metrics.auditTamperDetectedTotal.inc()
    const shown = bad.slice(0, SHOWN_MAX)
    logger.error({
      event: 'receipts.unmatched',
      count: bad.length,
      handoffs: shown.map(({ handoffId, epoch }) => ({ handoffId, epoch })),
      states: shown.map((receipt) => states[receipts.indexOf(receipt)]),
    })
  }

  async function round(): Promise<void> {
    await compare(await deps.listNewestReceipts(NEWEST_TASKS))
    const after = (await deps.readMark()) ?? FIRST
    const executions = await deps.listExecutionsAfter(after, PASS_EXECUTIONS)
    await compare(
      executions.flatMap(({ hash, ...rest }) => (hash === null ? [] : [{ ...rest, hash }])),
    )
    const isThrough = executions.length < PASS_EXECUTIONS
    await deps.writeMark(isThrough ? FIRST : (executions.at(-1)?.handoffId ?? FIRST))
  }

  function schedule(): void {
    if (stopped) return
    timer = setTimeout(() => {
      running = round()
        .catch((error: unknown) =>
          logger.warn({ event: 'receipts.unchecked', code: codeOf(error) }),
        )
        .finally(schedule)
    }, everyMs)
  }

  return {
    name: 'receipts',
    async start() {
      schedule()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
