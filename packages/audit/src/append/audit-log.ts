// Appends entries to their chains: durable before it answers, never forked, never recorded twice.
import { shardOf, formatInstant, uuidBytes } from '@baton/ledger'
import type { AuditEntry, BatchSigner, Receipt } from '@baton/ledger'
import { crashPoint, permanent, transient } from '@baton/runtime'
import { appendBatch } from './append-batch.ts'
import { buildBatch } from './build-batch.ts'
import type { BuiltBatch, ChainWork } from './build-batch.ts'
import { isErasedSubject, isRepeatedKey } from '../database.ts'
import type { Database } from '../database.ts'
import { readHeads } from './heads.ts'
import type { ChainHead } from './heads.ts'
import { findRecordedKeys, findTaskLasts } from './idempotency.ts'
import type { RecordedKey } from './idempotency.ts'
import { prepareEntry } from './prepared-entry.ts'
import type { PreparedEntry } from './prepared-entry.ts'
import type { SubjectVault } from './subject-vault.ts'
import { TaskLasts } from '../read/task-lasts.ts'

interface AuditLogOptions {
  /** Connected as audit_writer. */
  readonly db: Database
  readonly vault: SubjectVault
  readonly signer: BatchSigner
  readonly environment: string
  /** Microseconds since 1970; the system clock by default. */
  readonly nowMicros?: () => number
}

/** The answer to one entry: its receipt, or that its key is recorded with other content. */
export type AppendOutcome =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | { readonly kind: 'conflict'; readonly origin: string; readonly seq: number }

/** How often one flush is built again because another writer was faster. */
const ATTEMPTS_MAX = 50

/**
 * The append path (E11, E13). Call `append` one at a time: a batcher in front of it makes that so.
 * Chain heads and task positions are remembered between calls; the compare-and-set of audit.append
 * finds out when another writer has moved a chain, and then they are read again.
 */
export class AuditLog {
  readonly #db: Database
  readonly #vault: SubjectVault
  readonly #signer: BatchSigner
  readonly #environment: string
  readonly #nowMicros: () => number
  readonly #tasks = new TaskLasts()
  /** The chains of the current epoch by shard; empty when they have to be read. */
  #heads: ChainHead[] = []

  constructor(options: AuditLogOptions) {
    this.#db = options.db
    this.#vault = options.vault
    this.#signer = options.signer
    this.#environment = options.environment
    this.#nowMicros = options.nowMicros ?? (() => Date.now() * 1000)
  }

  /** Outcome i answers entry i. Throws transient errors when nothing is known to be stored. */
  async append(entries: readonly AuditEntry[]): Promise<readonly AppendOutcome[]> {
    const { requestKey } = this.#vault
    const options = { requestKey, environment: this.#environment, nowMicros: this.#nowMicros() }
    const prepared = entries.map((entry) => prepareEntry(entry, options))
    const firsts = firstOfEachKey(prepared)
    const outcomes = await this.#store([...firsts.values()])
    return prepared.map((one) => {
      const first = firsts.get(one.keyText) as PreparedEntry
      const outcome = outcomes.get(first) as AppendOutcome
      return one === first ? outcome : repeated(one, first, outcome)
    })
  }

  async #store(
    prepared: readonly PreparedEntry[],
  ): Promise<ReadonlyMap<PreparedEntry, AppendOutcome>> {
    const outcomes = new Map<PreparedEntry, AppendOutcome>()
    let rest = prepared
    for (let attempt = 0; rest.length > 0; attempt += 1) {
      if (attempt === ATTEMPTS_MAX) throw contended()
      const answered = await this.#tryStore(rest)
      for (const [one, outcome] of answered) outcomes.set(one, outcome)
      rest = rest.filter((one) => !outcomes.has(one))
    }
    return outcomes
  }

  /** Answers what could be decided; an empty map asks for another attempt. */
  async #tryStore(
    prepared: readonly PreparedEntry[],
  ): Promise<ReadonlyMap<PreparedEntry, AppendOutcome>> {
    try {
      const built = await this.#build(prepared)
      crashPoint('auditor.before_append')
      const appended = await appendBatch(this.#db, built.batch)
      crashPoint('auditor.after_append')
      if (!appended) {
        this.#forgetChains(built)
        return new Map()
      }
      return this.#remember(built)
    } catch (error) {
      // Whether the batch was committed is not known here, so nothing remembered may be used.
      this.#forgetAll()
      if (isRepeatedKey(error)) return this.#answerRecorded(prepared)
      if (isErasedSubject(error)) {
        this.#vault.forget()
        return new Map()
      }
      throw error
    }
  }

  async #build(prepared: readonly PreparedEntry[]): Promise<BuiltBatch> {
    const work = await this.#chainWork(prepared)
    await this.#loadTasks(work)
    const segments = prepared.flatMap((one) => one.segments)
    const names = new Map(segments.map((each) => [each.subjectName, each.memberNames]))
    return buildBatch(work, {
      signer: this.#signer,
      wrappingKeyId: this.#vault.wrappingKeyId,
      subjects: await this.#vault.obtain(names),
      nowMicros: this.#nowMicros(),
      taskPosition: ({ chain }, taskId) => {
        const position = this.#tasks.get(chain, taskId)
        return position ?? { nextSeq: 0, lastHash: Buffer.alloc(32) }
      },
    })
  }

  async #chainWork(prepared: readonly PreparedEntry[]): Promise<ChainWork[]> {
    if (this.#heads.length === 0) this.#heads = await readCurrentChains(this.#db)
    const byShard = Map.groupBy(prepared, ({ entry }) => shardOf(entry.taskId, this.#heads.length))
    return [...byShard].map(([shard, entries]) => ({
      head: this.#heads[shard] as ChainHead,
      entries,
    }))
  }

  async #loadTasks(work: readonly ChainWork[]): Promise<void> {
    const unknown = new Map<string, number>()
    for (const { head, entries } of work) {
      for (const { entry } of entries) {
        const known = this.#tasks.get(head.chain, entry.taskId) !== undefined
        if (!known) unknown.set(entry.taskId, head.chain)
      }
    }
    if (unknown.size === 0) return
    const lasts = await findTaskLasts(this.#db, [...unknown.keys()].map(uuidBytes))
    for (const [taskId, chain] of unknown) this.#tasks.set(chain, taskId)
    for (const { taskId, taskSeq, recordHash } of lasts) {
      const position = { nextSeq: taskSeq + 1, lastHash: recordHash }
      this.#tasks.set(unknown.get(taskId) as number, taskId, position)
    }
  }

  #remember(built: BuiltBatch): ReadonlyMap<PreparedEntry, AppendOutcome> {
    for (const head of built.heads) this.#heads[head.shard] = head
    for (const { chain, taskId, position } of built.positions) {
      this.#tasks.set(chain, taskId, position)
    }
    const receipts = [...built.receipts]
    return new Map(receipts.map(([one, receipt]) => [one, { kind: 'receipt', receipt }] as const))
  }

  #forgetChains(built: BuiltBatch): void {
    for (const { chain } of built.heads) this.#tasks.forget(chain)
    this.#heads = []
  }

  #forgetAll(): void {
    for (const { chain } of this.#heads) this.#tasks.forget(chain)
    this.#heads = []
  }

  async #answerRecorded(
    prepared: readonly PreparedEntry[],
  ): Promise<ReadonlyMap<PreparedEntry, AppendOutcome>> {
    this.#heads = await readCurrentChains(this.#db)
    const rows = await findRecordedKeys(
      this.#db,
      prepared.map((one) => one.key),
    )
    const byKey = new Map(rows.map((row) => [row.key.replaceAll('-', ''), row]))
    const outcomes = new Map<PreparedEntry, AppendOutcome>()
    for (const one of prepared) {
      const row = byKey.get(one.keyText)
      if (row !== undefined) outcomes.set(one, this.#recordedOutcome(one, row))
    }
    return outcomes
  }

  #recordedOutcome(one: PreparedEntry, row: RecordedKey): AppendOutcome {
    const origin = this.#heads.find((head) => head.chain === row.chain)?.origin ?? ''
    if (!one.requestHash.equals(row.requestHash)) return { kind: 'conflict', origin, seq: row.seq }
    const recordHash = row.recordHash.toString('hex')
    const recordedAt = formatInstant(row.recordedAtMicros)
    return {
      kind: 'receipt',
      receipt: { origin, seq: row.seq, recordHash, recordedAt, duplicate: true },
    }
  }
}

function firstOfEachKey(prepared: readonly PreparedEntry[]): Map<string, PreparedEntry> {
  const firsts = new Map<string, PreparedEntry>()
  for (const one of prepared) if (!firsts.has(one.keyText)) firsts.set(one.keyText, one)
  return firsts
}

// The same key twice in one flush: a caller repeated a request that had not been answered yet.
function repeated(one: PreparedEntry, first: PreparedEntry, outcome: AppendOutcome): AppendOutcome {
  if (outcome.kind === 'conflict') return outcome
  const { receipt } = outcome
  if (one.requestHash.equals(first.requestHash)) {
    return { kind: 'receipt', receipt: { ...receipt, duplicate: true } }
  }
  return { kind: 'conflict', origin: receipt.origin, seq: receipt.seq }
}

async function readCurrentChains(db: Database): Promise<ChainHead[]> {
  const heads = await readHeads(db)
  const epoch = Math.max(...heads.map((head) => head.epoch))
  const chains: ChainHead[] = []
  for (const head of heads) if (head.epoch === epoch) chains[head.shard] = head
  const complete = chains.length > 0 && Object.keys(chains).length === chains[0]?.shards
  if (complete) return chains
  throw permanent('BATON_AUDIT_CHAINS_MISSING', 'the audit database does not hold all its chains', {
    fix: 'Run `baton migrate`; if chains existed before, treat this as tampering.',
  })
}

const contended = () =>
  transient('BATON_AUDIT_CONTENDED', 'other writers moved the chains first every time', {
    fix: 'Run fewer auditors on one database.',
  })
