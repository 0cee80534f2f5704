// Refusals at the door reach the audit log: of each sender the first of a minute one by one, all others by their number.
// Whoever floods the door writes ten records a minute and one for each reason, whatever is sent.
import { randomUUID } from 'node:crypto'
import { taskOfRefusals } from '@baton/ledger'
import type { AuditEntry } from '@baton/ledger'
import type { RejectionReason } from '@baton/protocol'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { addOutboxEvents, namesOfOther } from '@baton/store'
import type { Pool } from '@baton/store'
import { ofTenant, toOutboxEvent } from './decide/audit-entries.ts'

/** A message that somebody sent and that was never stored. */
export interface RefusedSend {
  readonly reason: RejectionReason
  /** The operator of the API key that was used, and its tenant. */
  readonly operator: string
  readonly tenant: string
  /** What the message said that it is, where it said so in the form of an id. */
  readonly taskId: string | undefined
  readonly handoffId: string | undefined
  readonly traceparent: string
}

export interface RefusalRecorder extends Service {
  /** Resolves once it is durable, or counted; never throws: the sender is refused in any case. */
  refused(one: RefusedSend): Promise<void>
}

interface RefusalParts {
  readonly pool: Pool
  readonly logger: Logger
  /** How often what was only counted is written; a minute by default. */
  readonly everyMs?: number
}

const SINGLY_MAX = 10
const MINUTE_MS = 60_000

export function createRefusalRecorder(parts: RefusalParts): RefusalRecorder {
  const { pool, logger, everyMs = MINUTE_MS } = parts
  /** How many of each operator were recorded singly since the last writing. */
  const singly = new Map<string, number>()
  let counted = new Map<string, Counted>()

  const write = (entries: readonly AuditEntry[]): Promise<void> =>
    addOutboxEvents(pool, entries.map(toOutboxEvent))

  function count({ operator, tenant, reason, traceparent }: Counting, times: number): void {
    const key = `${reason} ${operator}`
    const before = counted.get(key)?.times ?? 0
    counted.set(key, { operator, tenant, reason, traceparent, times: before + times })
  }

  async function writeCounted(): Promise<void> {
    singly.clear()
    const writing = counted
    counted = new Map()
    if (writing.size === 0) return
    try {
      await write([...writing.values()].map((one) => refusalEntry(one, one.times)))
    } catch (error) {
      for (const one of writing.values()) count(one, one.times)
      throw error
    }
  }

  // Nobody writes into the trace of another tenant's task, or about another's handoff, by naming it.
  async function withoutOthers(one: RefusedSend): Promise<RefusedSend> {
    return (await namesOfOther(pool, one.tenant, one))
      ? { ...one, taskId: undefined, handoffId: undefined }
      : one
  }

  const failed = (error: unknown): void =>
    logger.warn({ event: 'refusals.unwritten', code: codeOf(error) })
  const writings = every({
    name: 'refusal-recorder',
    everyMs,
    firstAfterMs: everyMs,
    holdsProcess: false,
    run: writeCounted,
    failed,
  })
  let stopped: Promise<void> | undefined
  return {
    name: writings.name,
    start: () => writings.start(),
    stop: () => (stopped ??= writings.stop().then(writeCounted).catch(failed)),
    async refused(one) {
      const before = singly.get(one.operator) ?? 0
      if (before >= SINGLY_MAX) return count(one, 1)
      singly.set(one.operator, before + 1)
      try {
        await write([refusalEntry(await withoutOthers(one), 1)])
      } catch (error) {
        failed(error)
        count(one, 1)
      }
    },
  }
}

type Counting = Pick<RefusedSend, 'operator' | 'tenant' | 'reason' | 'traceparent'>
type Counted = Counting & { readonly times: number }

/** Of a message that nobody read further nothing is believed but the ids that it names, and nothing else of it is recorded. */
function refusalEntry(
  { reason, operator, tenant, traceparent, ...said }: Counting & Partial<RefusedSend>,
  times: number,
): AuditEntry {
  const id = randomUUID()
  return {
    event: 'SEND_REFUSED',
    taskId: said.taskId ?? taskOfRefusals(new Date().toISOString()),
    handoffId: said.handoffId ?? id,
    parentHandoffId: null,
    attempt: 0,
    epoch: 0,
    fromAgent: { agentId: 'gateway', agentVersion: '0', executionId: id },
    toAgent: { agentType: 'gateway', agentVersion: null },
    traceparent,
    ...ofTenant(tenant),
    verdicts: null,
    reason,
    cost: null,
    act: { id, actor: operator },
    times,
    segments: [],
  }
}
