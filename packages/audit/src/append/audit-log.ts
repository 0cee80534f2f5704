// Appends entries to their chains: durable before it answers, never forked, never recorded twice.
import { formatInstant, shardOf, uuidBytes } from '@baton/ledger'
import type { AuditEntry, BatchSigner, Receipt } from '@baton/ledger'
import { crashPoint, permanent, transient } from '@baton/runtime'
import { appendBatch } from './append-batch.ts'
import { buildBatch } from './build-batch.ts'
import type { BuiltBatch, ChainWork } from './build-batch.ts'
import { isErasedSubject, isRepeatedKey } from '../database.ts'
import type { Database } from '../database.ts'
import { readHeads } from './heads.ts'
import type { ChainHead } from './heads.ts'
import { findRecordedKeys, findTaskLastPositions } from './idempotency.ts'
import type { RecordedKey } from './idempotency.ts'
import { prepareEntry } from './prepared-entry.ts'
import type { PreparedEntry } from './prepared-entry.ts'
import { digestRequest, isSameRequest } from './request-digest.ts'
import type { SubjectVault } from './subject-vault.ts'
import { createTaskLastPositions } from './task-last-positions.ts'
import type { TaskPosition } from './task-last-positions.ts'

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

export interface AuditLog {
  /** Outcome i answers entry i. Throws transient errors when nothing is known to be stored. */
  append(entries: readonly AuditEntry[]): Promise<readonly AppendOutcome[]>
}

type Outcomes = ReadonlyMap<PreparedEntry, AppendOutcome>

/** How often one flush is built again because another writer was faster. */
const ATTEMPTS_MAX = 50

/**
 * The append path (E11, E13). Call `append` one at a time: a batcher in front of it makes that so.
 * Chain heads and task positions are remembered between calls; the compare-and-set of audit.append
 * finds out when another writer has moved a chain, and then they are read again.
 */
export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { db, vault, signer, environment, nowMicros = () => Date.now() * 1000 } = options
  const memory = createChainMemory(db)

  async function build(prepared: readonly PreparedEntry[]): Promise<BuiltBatch> {
    const work = await memory.workOf(prepared)
    const segments = prepared.flatMap((one) => one.segments)
    const names = new Map(segments.map((each) => [each.subjectName, each.memberNames]))
    return buildBatch(work, {
      signer,
      wrappingKeyId: vault.wrappingKeyId,
      subjects: await vault.obtain(names),
      nowMicros: nowMicros(),
      taskPosition: memory.taskPosition,
    })
  }

  /** Answers what could be decided; an empty map asks for another attempt. */
  async function tryStore(prepared: readonly PreparedEntry[]): Promise<Outcomes> {
    try {
      const built = await build(prepared)
      crashPoint('auditor.before_append')
      const appended = await appendBatch(db, built.batch)
      crashPoint('auditor.after_append')
      if (!appended) {
        memory.forget(built.heads)
        return new Map()
      }
      memory.keep(built)
      return new Map(
        [...built.receipts].map(([one, receipt]) => [one, { kind: 'receipt', receipt }]),
      )
    } catch (error) {
      // Whether the batch was committed is not known here, so nothing remembered may be used.
      memory.forget()
      if (isRepeatedKey(error)) return findRecorded(db, prepared, () => vault.requestKeys())
      if (isErasedSubject(error)) {
        vault.forget()
        return new Map()
      }
      throw error
    }
  }

  async function store(prepared: readonly PreparedEntry[]): Promise<Outcomes> {
    const outcomes = new Map<PreparedEntry, AppendOutcome>()
    let rest = prepared
    for (let attempt = 0; rest.length > 0; attempt += 1) {
      if (attempt === ATTEMPTS_MAX) throw contended()
      for (const [one, outcome] of await tryStore(rest)) outcomes.set(one, outcome)
      rest = rest.filter((one) => !outcomes.has(one))
    }
    return outcomes
  }

  return {
    async append(entries) {
      const preparing = { requestKey: vault.requestKey, environment, nowMicros: nowMicros() }
      const prepared = entries.map((entry) => prepareEntry(entry, preparing))
      const firsts = firstOfEachKey(prepared)
      const outcomes = await store([...firsts.values()])
      return prepared.map((one) => {
        const first = firsts.get(one.keyText) as PreparedEntry
        const outcome = outcomes.get(first) as AppendOutcome
        return one === first ? outcome : repeated(one, first, outcome)
      })
    },
  }
}

/** What is remembered between two appends. */
interface ChainMemory {
  /** The entries by chain, once their heads and the positions of their tasks are known. */
  workOf(prepared: readonly PreparedEntry[]): Promise<readonly ChainWork[]>
  taskPosition(head: ChainHead, taskId: string): TaskPosition
  keep(stored: BuiltBatch): void
  /** All heads are read again, and the tasks of these chains; of every chain by default. */
  forget(chains?: readonly ChainHead[]): void
}

function createChainMemory(db: Database): ChainMemory {
  const tasks = createTaskLastPositions()
  /** The chains of the current epoch by shard; empty when they have to be read. */
  let heads: ChainHead[] = []

  async function loadTasks(work: readonly ChainWork[]): Promise<void> {
    const unknown = new Map<string, number>()
    for (const { head, entries } of work) {
      for (const { entry } of entries) {
        const known = tasks.get(head.chain, entry.taskId) !== undefined
        if (!known) unknown.set(entry.taskId, head.chain)
      }
    }
    if (unknown.size === 0) return
    const lastPositions = await findTaskLastPositions(db, [...unknown.keys()].map(uuidBytes))
    for (const [taskId, chain] of unknown) tasks.set(chain, taskId)
    for (const { taskId, taskSeq, recordHash } of lastPositions) {
      const position = { nextSeq: taskSeq + 1, lastHash: recordHash }
      tasks.set(unknown.get(taskId) as number, taskId, position)
    }
  }

  return {
    async workOf(prepared) {
      if (heads.length === 0) heads = await readCurrentChains(db)
      const byShard = Map.groupBy(prepared, ({ entry }) => shardOf(entry.taskId, heads.length))
      const work = [...byShard].map(([shard, entries]) => ({
        head: heads[shard] as ChainHead,
        entries,
      }))
      await loadTasks(work)
      return work
    },
    taskPosition: ({ chain }, taskId) =>
      tasks.get(chain, taskId) ?? { nextSeq: 0, lastHash: Buffer.alloc(32) },
    keep({ heads: moved, positions }) {
      for (const head of moved) heads[head.shard] = head
      for (const { chain, taskId, position } of positions) tasks.set(chain, taskId, position)
    },
    forget(chains = heads) {
      for (const { chain } of chains) tasks.forget(chain)
      heads = []
    },
  }
}

/** What was answered to those of these entries that are recorded already. */
async function findRecorded(
  db: Database,
  prepared: readonly PreparedEntry[],
  requestKeys: () => Promise<readonly Buffer[]>,
): Promise<Outcomes> {
  const origins = new Map((await readHeads(db)).map(({ chain, origin }) => [chain, origin]))
  const rows = await findRecordedKeys(
    db,
    prepared.map((one) => one.key),
  )
  const byKey = new Map(rows.map((row) => [row.key.replaceAll('-', ''), row]))
  const outcomes = new Map<PreparedEntry, AppendOutcome>()
  for (const one of prepared) {
    const row = byKey.get(one.keyText)
    if (row === undefined) continue
    const isSame =
      isSameRequest(one.requestHash, row.requestHash) ||
      isSameUnder(await requestKeys(), one, row.requestHash)
    outcomes.set(one, recordedOutcome(isSame, row, origins.get(row.chain) ?? ''))
  }
  return outcomes
}

/** What was recorded before the lookup key changed has its digest under the key of then. */
const isSameUnder = (
  requestKeys: readonly Buffer[],
  { entry, key }: PreparedEntry,
  stored: Buffer,
): boolean =>
  requestKeys.some((requestKey) => isSameRequest(digestRequest(entry, key, requestKey), stored))

function recordedOutcome(isSame: boolean, row: RecordedKey, origin: string): AppendOutcome {
  const { seq, recordHash, recordedAtMicros } = row
  if (!isSame) return { kind: 'conflict', origin, seq }
  const receipt = {
    origin,
    seq,
    recordHash: recordHash.toString('hex'),
    recordedAt: formatInstant(recordedAtMicros),
    duplicate: true,
  }
  return { kind: 'receipt', receipt }
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
  if (isSameRequest(one.requestHash, first.requestHash)) {
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
