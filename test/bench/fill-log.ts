// Fills an audit database with valid chains of ten-hop tasks, as fast as Postgres takes them.
import { randomBytes } from 'node:crypto'
import {
  buildRecord,
  createCompactRange,
  formatUuid,
  GENESIS_HASH,
  recordIdBytes,
  shardOf,
} from '@baton/ledger'
import type { AuditEntry, BatchSigner, CompactRange } from '@baton/ledger'
import type { Pool } from '@baton/audit'
import { copyIn, CopyRows } from './copy-in.ts'
import { finishTables, prepareTables } from './log-tables.ts'

export const HOPS = 10
export const SHARDS = 4
const DAYS = 30
const DAY_MICROS = 86_400_000_000
/** Tasks that run at once: so far apart do the records of one stand. */
const CONCURRENT_TASKS = 1_000
const CHUNK_RECORDS = 20_000
const BATCH_RECORDS = 64
const EVENT = 1

interface Chain {
  readonly chain: number
  readonly origin: string
  readonly tree: CompactRange
  size: number
  lastHash: Buffer
  lastMicros: number
  batchFrom: number
  /** Records of the days that become cold. */
  coldRecords: number
  /** The first tree that holds all of them in full bundles. */
  sealed: { size: number; root: Uint8Array } | undefined
}

interface Task {
  readonly id: string
  readonly bytes: Buffer
  readonly chain: Chain
  next: number
  lastHash: Buffer
}

interface Filled {
  readonly chains: readonly Chain[]
  readonly coldTasks: readonly string[]
  readonly hotTasks: readonly string[]
  readonly firstDay: number
}

interface FillOptions {
  /** A superuser on the audit database. */
  readonly pool: Pool
  readonly origins: readonly string[]
  readonly signer: BatchSigner
  readonly records: number
  readonly coldDays: number
  readonly onProgress: (records: number) => void
}

const SAMPLED = 5_000

/** The chains begin 30 days ago and end now. Indexes are made at the end. */
export async function fillLog(options: FillOptions): Promise<Filled> {
  const { pool, records, coldDays, onProgress } = options
  const firstDay = Math.floor((Date.now() * 1_000) / DAY_MICROS) - DAYS + 1
  await prepareTables(pool, firstDay, DAYS)
  const client = await pool.connect()
  const chains = options.origins.map(newChain)
  const sampled = { cold: [] as string[], hot: [] as string[] }
  const tasks: Task[] = []
  const stepMicros = Math.floor(((DAYS - 1) * DAY_MICROS) / records)
  let sent: Promise<void> = Promise.resolve()
  for (let made = 0; made < records;) {
    const chunk = newChunk()
    const end = Math.min(records, made + CHUNK_RECORDS)
    for (; made < end; made += 1) {
      const slot = made % CONCURRENT_TASKS
      const micros = firstDay * DAY_MICROS + made * stepMicros
      const day = Math.floor(micros / DAY_MICROS) - firstDay
      let task = tasks[slot]
      if (task === undefined || task.next === HOPS) {
        task = tasks[slot] = newTask(chains)
        const isLong = made + HOPS * CONCURRENT_TASKS < records
        const ends = firstDay * DAY_MICROS + (made + HOPS * CONCURRENT_TASKS) * stepMicros
        const list = ends < (firstDay + coldDays) * DAY_MICROS ? sampled.cold : sampled.hot
        const isHot = list === sampled.hot && day >= coldDays
        if (isLong && (list === sampled.cold || isHot)) sample(list, task.id, made)
      }
      add(chunk, { task, micros, signer: options.signer })
      markCold(task.chain, day < coldDays)
    }
    await sent
    sent = send(client, chunk)
    onProgress(made)
  }
  await sent
  const last = newChunk()
  for (const chain of chains) closeBatch(last, chain, options.signer)
  await send(client, last)
  client.release()
  await finishTables(pool, chains)
  return { chains, coldTasks: sampled.cold, hotTasks: sampled.hot, firstDay }
}

const newChain = (origin: string, chain: number): Chain => ({
  chain,
  origin,
  tree: createCompactRange(),
  size: 0,
  lastHash: GENESIS_HASH,
  lastMicros: 0,
  batchFrom: 0,
  coldRecords: 0,
  sealed: undefined,
})

function newTask(chains: readonly Chain[]): Task {
  const bytes = randomBytes(16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const id = formatUuid(bytes)
  const chain = chains[shardOf(id, chains.length)] as Chain
  return { id, bytes, chain, next: 0, lastHash: GENESIS_HASH }
}

// Evenly over the whole run: later ones replace earlier ones.
function sample(list: string[], id: string, made: number): void {
  if (list.length < SAMPLED) list.push(id)
  else list[made % SAMPLED] = id
}

function markCold(chain: Chain, isCold: boolean): void {
  if (isCold) chain.coldRecords = chain.size
  else if (chain.sealed === undefined && chain.size % 256 === 0) {
    chain.sealed = { size: chain.size, root: chain.tree.root() }
  }
}

interface Chunk {
  readonly record: CopyRows
  readonly idem: CopyRows
  readonly batch: CopyRows
}

const newChunk = (): Chunk => ({
  record: new CopyRows(),
  idem: new CopyRows(),
  batch: new CopyRows(),
})

interface Addition {
  readonly task: Task
  readonly micros: number
  readonly signer: BatchSigner
}

function add(chunk: Chunk, { task, micros, signer }: Addition): void {
  const { chain, bytes } = task
  const handoff = Buffer.from(bytes)
  handoff[15] = (bytes[15] as number) ^ (task.next + 1)
  const entry = entryOf(task, formatUuid(handoff))
  const recordedAtMicros = Math.max(micros, chain.lastMicros + 1)
  const { body, hash } = buildRecord(
    entry,
    {
      origin: chain.origin,
      seq: chain.size,
      previousRecordHash: chain.lastHash,
      taskSeq: task.next,
      previousTaskRecordHash: task.lastHash,
      recordedAtMicros,
    },
    { payload: [], keyIds: { batch: signer.keyId, wrap: 'bench' } },
  )
  const { spentMicroUSD = 0 } = entry.cost ?? {}
  chunk.record.row(9).int2(chain.chain).int8(chain.size).time(recordedAtMicros).bytes(bytes)
  chunk.record.bytes(handoff).int2(EVENT).int8(spentMicroUSD).bytes(body).bytes(hash)
  chunk.idem.row(8).bytes(recordIdBytes(entry)).bytes(hash).int2(chain.chain).int8(chain.size)
  chunk.idem.time(recordedAtMicros).bytes(hash).bytes(bytes).int4(task.next)
  chain.tree.append(hash)
  chain.size += 1
  chain.lastHash = hash
  chain.lastMicros = recordedAtMicros
  task.next += 1
  task.lastHash = hash
  if (chain.size - chain.batchFrom === BATCH_RECORDS) closeBatch(chunk, chain, signer)
}

function closeBatch({ batch }: Chunk, chain: Chain, signer: BatchSigner): void {
  const { origin, batchFrom: firstSeq, size, lastHash } = chain
  if (size === firstSeq) return
  const statement = { origin, firstSeq, lastSeq: size - 1, lastHash: lastHash.toString('hex') }
  batch
    .row(6)
    .int2(chain.chain)
    .int8(size - 1)
    .int8(firstSeq)
    .bytes(lastHash)
  batch.bytes(Buffer.from(signer.keyId)).bytes(signer.sign(statement))
  chain.batchFrom = size
}

const entryOf = ({ id, next }: Task, handoffId: string): AuditEntry => ({
  event: 'HANDOFF_ACCEPTED',
  taskId: id,
  handoffId,
  parentHandoffId: null,
  attempt: 1,
  epoch: 1,
  fromAgent: { agentId: 'clause-extraction', agentVersion: '1.0.0', executionId: handoffId },
  toAgent: { agentType: 'legal-analysis', agentVersion: null },
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  verdicts: null,
  reason: null,
  cost: {
    spentMicroUSD: 10_000 * (next + 1),
    remainingMicroUSD: 500_000 - 10_000 * (next + 1),
    promptTokens: 900,
    completionTokens: 100,
  },
  segments: [],
})

type Client = Awaited<ReturnType<Pool['connect']>>

async function send(client: Client, { record, idem, batch }: Chunk): Promise<void> {
  await copyIn(client, RECORD, record)
  await copyIn(client, IDEM, idem)
  await copyIn(client, BATCH, batch)
}

const RECORD =
  'audit.record (chain, seq, recorded_at, task_id, handoff_id, event, spent_micro, body, record_hash)'
const IDEM =
  'audit.idem (key, request_hash, chain, seq, recorded_at, record_hash, task_id, task_seq)'
const BATCH = 'audit.batch_sig (chain, last_seq, first_seq, last_hash, key_id, signature)'
