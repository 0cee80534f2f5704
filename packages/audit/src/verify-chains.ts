// Verifies every chain from its stored bytes, in one snapshot and in bounded pages.
import type { KeyObject } from 'node:crypto'
import { ChainVerifier, uuidBytes } from '@baton/ledger'
import type { Finding, FindingRule, StoredIndex, StoredRecord, StoredSegment } from '@baton/ledger'
import { readBatches } from './batch-signatures.ts'
import { inSnapshot } from './database.ts'
import type { Database, Pool } from './database.ts'
import { readHeads } from './heads.ts'
import type { ChainHead } from './heads.ts'
import { findRecordedKeys } from './idempotency.ts'
import { readSegments } from './payloads.ts'
import { columnsAlone, readRecordsAfter } from './records.ts'
import type { RecordRow } from './records.ts'
import type { SubjectVault } from './subject-vault.ts'

interface VerifyOptions {
  /** Connected as audit_reader. */
  readonly pool: Pool
  /** Trusted public keys of append services, by key id; never taken from the database. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Opens payload segments. Without it segments are not verified. */
  readonly vault?: Pick<SubjectVault, 'keysOf'>
  /** Called after every page with the number of records verified so far. */
  readonly onProgress?: (records: number) => void
}

export interface ChainReport {
  readonly origin: string
  readonly records: number
}

export interface VerifyReport {
  /** No finding: the log says what was recorded. */
  readonly ok: boolean
  readonly records: number
  readonly chains: readonly ChainReport[]
  /** The first thousand, in order of chain and record. */
  readonly findings: readonly Finding[]
  readonly findingsTotal: number
  /** How often each rule is broken, also by findings past the first thousand. */
  readonly findingsByRule: Readonly<Partial<Record<FindingRule, number>>>
}

const PAGE_RECORDS = 500
const FINDINGS_MAX = 1_000

/** Verifies all chains of all epochs (E13, I10) and locates every difference. */
export function verifyChains(options: VerifyOptions): Promise<VerifyReport> {
  return inSnapshot(options.pool, async (db) => {
    const heads = await readHeads(db)
    const report = new ReportBuilder(options.onProgress)
    report.add(missingChains(heads))
    for (const head of heads) await verifyChain(db, head, { ...options, report })
    return report.finish()
  })
}

class ReportBuilder {
  readonly #onProgress: ((records: number) => void) | undefined
  readonly #findings: Finding[] = []
  readonly #chains: ChainReport[] = []
  readonly #byRule: Partial<Record<FindingRule, number>> = {}
  #total = 0
  #records = 0

  constructor(onProgress: ((records: number) => void) | undefined) {
    this.#onProgress = onProgress
  }

  add(findings: readonly Finding[]): void {
    this.#total += findings.length
    for (const { rule } of findings) this.#byRule[rule] = (this.#byRule[rule] ?? 0) + 1
    this.#findings.push(...findings.slice(0, FINDINGS_MAX - this.#findings.length))
  }

  page(records: number): void {
    this.#records += records
    this.#onProgress?.(this.#records)
  }

  chain(report: ChainReport): void {
    this.#chains.push(report)
  }

  finish(): VerifyReport {
    const findings = this.#findings
    const counts = { findingsTotal: this.#total, findingsByRule: this.#byRule }
    const rest = { records: this.#records, chains: this.#chains, findings }
    return { ok: this.#total === 0, ...rest, ...counts }
  }
}

// Each chain says how many its epoch has, so a chain that is gone is missed by the others.
function missingChains(heads: readonly ChainHead[]): Finding[] {
  const epochs = Map.groupBy(heads, (head) => head.epoch)
  if (epochs.size === 0) {
    return [{ origin: '', seq: null, rule: 'CHAIN_MISSING', message: 'the log has no chain' }]
  }
  return [...epochs].flatMap(([epoch, chains]) => {
    const shards = Math.max(...chains.map((chain) => chain.shards))
    const present = new Set(chains.map((chain) => chain.shard))
    const missing = Array.from({ length: shards }, (_, shard) => shard).filter(
      (shard) => !present.has(shard),
    )
    const origin = chains[0]?.origin.replace(/\/s\d+$/, '') ?? ''
    const message = `a chain of epoch ${epoch} is not in the database`
    return missing.map((shard) => {
      return { origin: `${origin}/s${shard}`, seq: null, rule: 'CHAIN_MISSING', message } as const
    })
  })
}

async function verifyChain(
  db: Database,
  head: ChainHead,
  options: VerifyOptions & { readonly report: ReportBuilder },
): Promise<void> {
  const { report, batchKeys } = options
  const verifier = new ChainVerifier({ origin: head.origin, batchKeys })
  let after = { chain: head.chain, seq: -1, recordedAtMicros: 0 }
  let records = 0
  for (;;) {
    const rows = await readRecordsAfter(db, after, PAGE_RECORDS)
    const last = rows.at(-1)
    if (last === undefined) break
    for (const stored of await completeRows(db, rows, options)) report.add(verifier.next(stored))
    records += rows.length
    report.page(rows.length)
    after = { chain: head.chain, seq: last.seq, recordedAtMicros: last.recordedAtMicros }
  }
  report.add(verifier.finish(head))
  report.chain({ origin: head.origin, records })
}

/** Puts beside each record every row that refers to it. */
async function completeRows(
  db: Database,
  rows: readonly RecordRow[],
  options: Pick<VerifyOptions, 'vault'>,
): Promise<StoredRecord[]> {
  const { chain, seq: firstSeq } = rows[0] as RecordRow
  const range = { chain, firstSeq, lastSeq: (rows.at(-1) as RecordRow).seq }
  const batches = new Map((await readBatches(db, range)).map((batch) => [batch.lastSeq, batch]))
  const indexes = await indexRows(db, rows)
  const segments = await openableSegments(db, range, options.vault)
  return rows.map((row) => ({
    body: row.body,
    recordHash: row.recordHash,
    columns: columnsAlone(row),
    index: indexes.get(row.seq),
    batch: batches.get(row.seq),
    segments: segments && (segments.get(row.seq) ?? []),
  }))
}

// Only finds the row to compare with; the verifier reads the body itself. Quotes inside a string of
// JSON are escaped, so this text cannot stand in one.
const NAMED_KEY = /"recordId":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/

/** The idempotency rows by the seq of the record whose body names them. */
async function indexRows(
  db: Database,
  rows: readonly RecordRow[],
): Promise<ReadonlyMap<number, StoredIndex>> {
  const named = new Map<string, RecordRow>()
  for (const row of rows) {
    const key = NAMED_KEY.exec(row.body.toString('latin1'))?.[1]
    if (key !== undefined) named.set(key, row)
  }
  const recorded = await findRecordedKeys(db, [...named.keys()].map(uuidBytes))
  const indexes = new Map<number, StoredIndex>()
  for (const index of recorded) {
    const row = named.get(index.key)
    if (row?.chain === index.chain) indexes.set(row.seq, index)
  }
  return indexes
}

async function openableSegments(
  db: Database,
  range: Parameters<typeof readSegments>[1],
  vault: VerifyOptions['vault'],
): Promise<ReadonlyMap<number, StoredSegment[]> | undefined> {
  if (vault === undefined) return undefined
  const rows = await readSegments(db, range)
  const keys = await vault.keysOf(new Set(rows.map((row) => row.subjectRef)))
  const segments = rows.map((row) => ({ ...row, key: keys.get(row.subjectRef) }))
  return Map.groupBy(segments, (segment) => segment.seq)
}
