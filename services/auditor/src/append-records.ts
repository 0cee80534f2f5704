// POST /v1/records: checks a request's entries, waits for their commit, answers their receipts.
import type { AppendOutcome } from '@baton/audit'
import { checkEntry, entryFault, HANDOFF_KEY, LISTED_AS } from '@baton/ledger'
import type { AuditEntry, DecisionFault, EntryProblem, People, Receipt } from '@baton/ledger'
import type { Batcher, Logger } from '@baton/runtime'
import type { Appender } from './access.ts'
import { record } from './schemas.ts'
import { ProblemError } from '@baton/http/server'

/** Most entries in one request. */
const ENTRIES_MAX = 256
const PROBLEMS_SHOWN_MAX = 20

interface AppendDependencies {
  readonly batcher: Batcher<AuditEntry, AppendOutcome>
  readonly queuedMax: number
  /** Whose decisions count. */
  readonly people: People
  readonly logger: Logger
}

/** Answers once every entry is durable. Throws problems: 400, 409, 503. */
export async function appendRecords(
  dependencies: AppendDependencies,
  { entries: given }: RecordsBody,
  appender: Appender,
): Promise<readonly Receipt[]> {
  const { batcher, queuedMax, people, logger } = dependencies
  const entries = readEntries(given, appender)
  for (const [index, entry] of entries.entries()) {
    const fault = entryFault(entry, people, Date.now())
    if (fault !== undefined) throw unsigned(index, fault)
  }
  if (batcher.queued + entries.length > queuedMax) throw overloaded(queuedMax)
  const outcomes = await Promise.all(entries.map((entry) => batcher.add(entry)))
  return outcomes.map((outcome, index) => {
    if (outcome.kind === 'receipt') return outcome.receipt
    const { event, handoffId, taskId } = entries[index] as AuditEntry
    const { origin, seq } = outcome
    logger.warn({
      event: 'audit.conflict',
      recorded: { origin, seq },
      entry: event,
      handoffId,
      taskId,
    })
    throw conflict(index)
  })
}

export interface RecordsBody {
  readonly entries: readonly unknown[]
}

/** Each entry is the log's own to check. */
export const RECORDS_BODY = record({
  entries: { type: 'array', items: {}, minItems: 1, maxItems: ENTRIES_MAX },
})

/** The problem of a body that is no such list. */
export const NO_ENTRIES = invalid([
  {
    pointer: '/entries',
    message: 'is not such an array',
    fix: `Give an object {"entries": [...]} with 1 to ${ENTRIES_MAX} entries.`,
  },
])

function readEntries(entries: readonly unknown[], appender: Appender): readonly AuditEntry[] {
  if (!entries.map(claimOf).every(MAY_RECORD[appender])) throw EVENT_RESERVED
  const checked = entries.map((entry, index) => checkEntry(entry, `/entries/${index}`))
  const problems = checked.flatMap((entry) => (entry.ok ? [] : entry.problems))
  if (problems.length > 0) throw invalid(problems)
  return checked.flatMap((entry) => (entry.ok ? [entry.entry] : []))
}

/** What leaves a store. A record of it explains why a chain begins later than it did. */
const OF_ARCHIVER = 'PARTITION_DROPPED'

/** What only the auditor's own routes record, for those who hold another token, and the archiver. */
const RESERVED: ReadonlySet<unknown> = new Set([
  'LEGAL_HOLD_SET',
  'LEGAL_HOLD_LIFTED',
  'ERASURE_REQUESTED',
  'ERASURE_COMPLETED',
  'ERASURE_DEFERRED',
  OF_ARCHIVER,
])

/** What an entry is about, before anybody has checked it. */
interface Claim {
  readonly event?: unknown
  readonly operation?: { readonly subject?: unknown } | null
}

const claimOf = (entry: unknown): Claim => (entry ?? {}) as Claim

const OF_AUDITOR: ReadonlySet<unknown> = new Set(['auditor', LISTED_AS])

/** Its own keys and settings, which nobody but the auditor knows; what it said last of them, it reads from the log. */
const isOfAuditor = ({ event, operation }: Claim): boolean =>
  (event === 'KEY_ROTATED' && operation?.subject !== HANDOFF_KEY) ||
  (event === 'SETTINGS_CHANGED' && OF_AUDITOR.has(operation?.subject))

const MAY_RECORD: Readonly<Record<Appender, (claim: Claim) => boolean>> = {
  service: (claim) => !RESERVED.has(claim.event) && !isOfAuditor(claim),
  archiver: ({ event }) => event === OF_ARCHIVER,
}

const EVENT_RESERVED = new ProblemError({
  status: 403,
  code: 'BATON_AUDIT_EVENT_RESERVED',
  detail: 'this token does not allow to record this event',
  fix: 'Hold a task, or lift its hold, with `baton audit hold` or PUT /v1/holds/{taskId}; what left a store, only the archiver records; its own keys and settings, only the auditor.',
})

const unsigned = (index: number, fault: DecisionFault) =>
  new ProblemError({
    status: 403,
    code: 'BATON_DECISION_UNSIGNED',
    detail: `nobody whose decisions count here has signed this decision (${fault})`,
    fix: 'Give the auditor the BATON_PEOPLE of the gateways; a decision that nobody signed is never recorded.',
    pointer: `/entries/${index}`,
  })

function invalid(problems: readonly EntryProblem[]): ProblemError {
  const first = problems[0] as EntryProblem
  return new ProblemError({
    status: 400,
    code: 'BATON_AUDIT_ENTRY_INVALID',
    detail: `${first.pointer} ${first.message}`,
    fix: first.fix,
    pointer: first.pointer,
    errors: problems
      .slice(0, PROBLEMS_SHOWN_MAX)
      .map(({ pointer, message, fix }) => ({ pointer, rule: 'entry', detail: message, fix })),
  })
}

const conflict = (index: number) =>
  new ProblemError({
    status: 409,
    code: 'BATON_IDEMPOTENCY_CONFLICT',
    detail: 'the same handoff, event and epoch are recorded already, with other content',
    fix: 'Send exactly the entry that was sent first, or use the next epoch.',
    pointer: `/entries/${index}`,
  })

const overloaded = (queuedMax: number) =>
  new ProblemError({
    status: 503,
    code: 'BATON_OVERLOADED',
    detail: `${queuedMax} entries are waiting for their commit already`,
    fix: 'Send the same request again after the time in Retry-After.',
    headers: { 'retry-after': '1' },
  })
