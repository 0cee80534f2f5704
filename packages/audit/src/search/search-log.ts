// A search of the whole log, hot and cold: the newest first, bounded in time and answers, each hit with its proof.
import { parseInstant, readRecord, recordHash } from '@baton/ledger'
import type { Finding, RecordBody } from '@baton/ledger'
import { readHeads } from '../append/heads.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { readTierRecords } from '../cold/read-task.ts'
import { inSnapshot } from '../database.ts'
import type { Pool } from '../database.ts'
import { assuranceOf } from '../read/assurance.ts'
import type { Assurance, CoveredSizes } from '../read/assurance.ts'
import { proveEnd } from '../read/prove-end.ts'
import { proveRows } from '../read/prove-records.ts'
import { rowFindings } from '../read/read-trace.ts'
import type { RecordRow } from '../read/records.ts'
import { fits } from './criteria.ts'
import type { Criteria } from './criteria.ts'
import { boundStatements, LOOK_MS, openWalks, startOf } from './open-walks.ts'
import type { Looked, Reading, SearchPosition, Walks } from './open-walks.ts'
import type { ChainWalk } from './walk-chain.ts'

export interface SearchRequest {
  readonly criteria: Criteria
  readonly limit: number
  /** Where an earlier answer ended; from the newest record on without it. */
  readonly position?: SearchPosition | undefined
  /** Without it, nothing is known to be sealed. */
  readonly covered?: CoveredSizes | undefined
  readonly cold?: ColdStore | undefined
}

export interface SearchHit {
  /** Recomputed from the stored bytes; lower-case hex. */
  readonly recordHash: string
  /** How well the record is protected by now; `committed` where it could not be proven. */
  readonly assurance: Assurance
  readonly tier: 'hot' | 'cold'
  readonly body: RecordBody
  /** What is wrong with it: then it is not what was recorded, or cannot be shown to be. */
  readonly findings: readonly Finding[]
}

export interface SearchPage {
  /** The newest first. */
  readonly hits: readonly SearchHit[]
  /** How far the search looked. */
  readonly looked: Looked
  /** Where to go on; undefined where everything was looked at. */
  readonly next: SearchPosition | undefined
}

export function searchLog(pool: Pool, request: SearchRequest): Promise<SearchPage> {
  return inSnapshot(pool, async (snapshot) => {
    await boundStatements(snapshot)
    const tier = createColdTier(snapshot, request.cold)
    const { covered } = request
    const reading = { snapshot, tier, heads: await readHeads(snapshot), covered }
    const { found, ...page } = await collect(await openSides(reading, request), request)
    return { ...page, hits: await proveHits(reading, found) }
  })
}

/** The index knows where the records of a task stand, and the map of tasks says how many there are: nothing has to be searched. */
async function walkTask(
  { snapshot, tier, heads, covered }: Reading,
  taskId: string,
  position: SearchPosition | undefined,
): Promise<Walks> {
  const { rows, findings, expired, lastExpired } = await readTierRecords(snapshot, tier, taskId)
  const records = rows.flatMap((row) => {
    const body = readRecord(row.body)
    return body === undefined
      ? []
      : [{ ...body, chain: row.chain, seq: row.seq, recordHash: recordHash(row.body) }]
  })
  const found = { taskId, records, expired, expiredHash: lastExpired?.recordHash }
  const end = await proveEnd(snapshot, found, covered?.taskMaps ?? [])
  const until = Math.max(0, ...end.ends.map((one) => one.records))
  const isSound = findings.length + end.findings.length === 0
  const walks = heads.map(({ chain, origin, size }): ChainWalk => {
    let below = startOf({ chain, size }, position)
    let isDone = false
    const from = below
    return {
      chain,
      get below() {
        return below
      },
      get isDone() {
        return isDone
      },
      async next() {
        isDone = true
        below = 0
        const own = rows.filter((row) => row.chain === chain && row.seq < from).toReversed()
        const proven = records.filter(
          (record) => record.chain === chain && record.seq < from && record.taskSeq < until,
        )
        return {
          rows: own,
          records: own.length,
          proven: isSound ? proven.length : 0,
          lowMicros: -Infinity,
          findings: findings.filter((finding) => finding.origin === origin),
        }
      },
    }
  })
  return { walks, findings: end.findings }
}

interface Found {
  readonly row: RecordRow
  readonly body: RecordBody
  readonly atMicros: number
}

/** One chain: how far it was looked at, and what was found there and not answered yet. */
interface Side {
  readonly walk: ChainWalk
  lowMicros: number
  waiting: Found[]
}

interface Sides extends Pick<Walks, 'findings'> {
  readonly sides: readonly Side[]
}

async function openSides(
  reading: Reading,
  { criteria, position }: Pick<SearchRequest, 'criteria' | 'position'>,
): Promise<Sides> {
  const { walks, findings } =
    criteria.taskId === undefined
      ? await openWalks(reading, criteria, position)
      : await walkTask(reading, criteria.taskId, position)
  const sides = walks.map((walk) => {
    return { walk, lowMicros: walk.isDone ? -Infinity : Infinity, waiting: [] }
  })
  return { sides, findings }
}

interface Collected extends Omit<SearchPage, 'hits'> {
  readonly found: readonly Found[]
}

/** A record is answered once every chain was looked at as far back, so that pages follow each other in time. */
async function collect(
  { sides, findings: before }: Sides,
  { criteria, limit }: SearchRequest,
): Promise<Collected> {
  const deadline = performance.now() + LOOK_MS
  const found: Found[] = []
  const findings = [...before]
  let records = 0
  let proven = 0
  while (found.length < limit) {
    const behind = sides.filter(({ walk }) => !walk.isDone).toSorted(byLow)[0]
    if (behind !== undefined) {
      const piece = await behind.walk.next()
      records += piece.records
      proven += piece.proven
      findings.push(...piece.findings)
      behind.lowMicros = piece.lowMicros
      for (const row of piece.rows) addFitting(behind, { row, criteria, findings })
    }
    take(sides, found, limit)
    if (behind === undefined || performance.now() > deadline) break
  }
  const isOver = sides.every(({ walk, waiting }) => walk.isDone && waiting.length === 0)
  return {
    found,
    looked: { records, proven, sinceMicros: isOver ? -Infinity : horizonOf(sides), findings },
    next: isOver ? undefined : sides.map(positionIn),
  }
}

const byLow = (left: Side, right: Side): number => right.lowMicros - left.lowMicros

const horizonOf = (sides: readonly Side[]): number =>
  Math.max(
    ...sides.map(({ lowMicros, waiting }) =>
      Math.max(lowMicros, waiting[0]?.atMicros ?? -Infinity),
    ),
  )

function positionIn({ walk, waiting: [first] }: Side): readonly [number, number] {
  return [walk.chain, first === undefined ? (walk.isDone ? 0 : walk.below) : first.row.seq + 1]
}

interface Candidate {
  readonly row: RecordRow
  readonly criteria: Criteria
  readonly findings: Finding[]
}

function addFitting({ waiting }: Side, { row, criteria, findings }: Candidate): void {
  const body = readRecord(row.body)
  if (body === undefined) findings.push(...rowFindings(row, body, ''))
  else if (fits(body, criteria))
    waiting.push({ row, body, atMicros: parseInstant(body.recordedAt) ?? 0 })
}

/** Moves what is newer than everything that is still to come, the newest first. */
function take(sides: readonly Side[], found: Found[], limit: number): void {
  const horizon = Math.max(...sides.map(({ lowMicros }) => lowMicros))
  for (;;) {
    if (found.length >= limit) return
    const newest = sides
      .filter(({ waiting: [first] }) => first !== undefined && first.atMicros >= horizon)
      .toSorted(
        (left, right) => (right.waiting[0]?.atMicros ?? 0) - (left.waiting[0]?.atMicros ?? 0),
      )[0]
    const next = newest?.waiting.shift()
    if (next === undefined) return
    found.push(next)
  }
}

async function proveHits(
  { snapshot, tier, heads, covered }: Reading,
  found: readonly Found[],
): Promise<readonly SearchHit[]> {
  const proven = await proveApart(
    found.map(({ row }) => row),
    (rows) => proveRows(snapshot, rows, { covered, tier }),
  )
  const origins = new Map(heads.map(({ chain, origin }) => [chain, origin]))
  const hits: SearchHit[] = []
  for (const { row, body } of found) {
    const { hotFrom, size, tail } = await tier.position(row.chain)
    const { proof, findings } = proven.get(row) ?? { proof: 'none', findings: [] }
    hits.push({
      recordHash: recordHash(row.body).toString('hex'),
      assurance: assuranceOf(proof, row.seq < Math.max(size, tail)),
      tier: row.seq < hotFrom ? 'cold' : 'hot',
      body,
      findings: [...findings, ...rowFindings(row, body, origins.get(row.chain) ?? '')],
    })
  }
  return hits
}

type Proven = Awaited<ReturnType<typeof proveRows>>
type ProofOf = Map<
  RecordRow,
  { proof: ReturnType<Proven['proofOf']>; findings: readonly Finding[] }
>

/** One altered record must not leave the others of its set without a proof: a set that fails is proven in halves. */
async function proveApart(
  rows: readonly RecordRow[],
  prove: (rows: readonly RecordRow[]) => Promise<Proven>,
): Promise<ProofOf> {
  const proven = await prove(rows)
  const half = Math.ceil(rows.length / 2)
  if (proven.findings.length > 0 && rows.length > 1) {
    const [left, right] = [
      await proveApart(rows.slice(0, half), prove),
      await proveApart(rows.slice(half), prove),
    ]
    return new Map([...left, ...right])
  }
  return new Map(
    rows.map((row) => [row, { proof: proven.proofOf(row), findings: proven.findings }]),
  )
}
