// What was spent in a time, by agent, by way and by day: differences of running totals, each counted once, and how well proven.
import { readRecord, recordHash, taskCharges, traceGaps } from '@baton/ledger'
import type { Charge, Finding, RecordBody } from '@baton/ledger'
import { readHeads } from '../append/heads.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { readTierRecords } from '../cold/read-task.ts'
import type { TaskRecords } from '../cold/read-task.ts'
import { inSnapshot } from '../database.ts'
import type { Pool } from '../database.ts'
import type { CoveredSizes } from '../read/assurance.ts'
import { proveExpiry } from '../read/prove-expiry.ts'
import { proveRows } from '../read/prove-records.ts'
import { rowFindings } from '../read/read-trace.ts'
import { countTaskRecords, readRecordsOfTasks } from '../read/records.ts'
import type { RecordRow } from '../read/records.ts'
import { fits } from './criteria.ts'
import type { Criteria } from './criteria.ts'
import { boundStatements, LOOK_MS, openWalks } from './open-walks.ts'
import type { Looked, Reading, SearchPosition } from './open-walks.ts'
import type { Piece } from './walk-chain.ts'

/** What the amounts are added up by. */
export const COST_KEYS = ['agent', 'to', 'day'] as const
export type CostKey = (typeof COST_KEYS)[number]

export interface CostRequest {
  readonly by: readonly CostKey[]
  readonly sinceMicros?: number | undefined
  readonly untilMicros?: number | undefined
  readonly position?: SearchPosition | undefined
  readonly covered?: CoveredSizes | undefined
  readonly cold?: ColdStore | undefined
}

export interface CostRow {
  /** Who spent it; null where it was not asked for, as are `to` and `day`. */
  readonly agent: string | null
  /** Whom the work was handed to; null also where the task ended with the agent. */
  readonly to: string | null
  /** In UTC, as YYYY-MM-DD. */
  readonly day: string | null
  readonly spentMicroUSD: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** How many amounts it is the sum of. */
  readonly charges: number
}

export interface CostPage {
  readonly rows: readonly CostRow[]
  /** The records that the amounts follow from: those under a signed head, and others. */
  readonly records: { readonly proven: number; readonly unproven: number }
  /** Tasks of which a record is altered or missing: what they cost may be wrong. */
  readonly doubtful: readonly string[]
  /** Tasks whose first records have expired: what they cost then may be counted with what is left. */
  readonly expired: readonly string[]
  readonly looked: Looked
  readonly next: SearchPosition | undefined
}

const COSTED = ['HANDOFF_ACCEPTED', 'HANDOFF_REJECTED', 'EXECUTION_COMPLETED'] as const

/** Bounded in time: where that is not enough the answer is of a part, and the next one goes on. Parts add up. */
export function readCosts(pool: Pool, request: CostRequest): Promise<CostPage> {
  const { by, sinceMicros, untilMicros, position, covered, cold } = request
  const criteria: Criteria = { events: COSTED, sinceMicros, untilMicros }
  return inSnapshot(pool, async (snapshot) => {
    await boundStatements(snapshot)
    const tier = createColdTier(snapshot, cold)
    const reading = { snapshot, tier, heads: await readHeads(snapshot), covered }
    const { walks, findings: before } = await openWalks(reading, criteria, position)
    const deadline = performance.now() + LOOK_MS
    const sum = createSum(by)
    const findings = [...before]
    let [records, proven] = [0, 0]
    for (const walk of walks) {
      while (!walk.isDone && performance.now() < deadline) {
        const piece = await walk.next()
        const own = placesIn(piece, criteria)
        const tasks = await readTasks(reading, own)
        const proofs = await proveTasks(tasks, (rows) =>
          proveRows(snapshot, rows, { covered, tier }),
        )
        for (const task of tasks) sum.add(task, own, proofs)
        records += piece.records
        proven += piece.proven
        findings.push(...piece.findings)
      }
    }
    const isOver = walks.every(({ isDone }) => isDone)
    const next = walks.map(({ chain, below, isDone }) => [chain, isDone ? 0 : below] as const)
    const looked = { records, proven, sinceMicros: isOver ? -Infinity : Infinity, findings }
    return { ...sum.result(), looked, next: isOver ? undefined : next }
  })
}

/** The task of each record that fits, by its place. */
type Places = ReadonlyMap<string, string>

const placeOf = ({ origin, seq }: RecordBody): string => `${origin}/${seq}`

function placesIn({ rows }: Piece, criteria: Criteria): Places {
  const places = new Map<string, string>()
  for (const row of rows) {
    const body = readRecord(row.body)
    if (body !== undefined && fits(body, criteria)) places.set(placeOf(body), body.taskId)
  }
  return places
}

interface WholeTask {
  readonly taskId: string
  readonly rows: readonly RecordRow[]
  /** Those that can be read. */
  readonly records: readonly { readonly row: RecordRow; readonly body: RecordBody }[]
  /** A record of it is altered or missing. */
  readonly isDoubtful: boolean
  /** Its first records are gone, and nothing is wrong with that. */
  readonly isExpired: boolean
}

/** What a record adds follows from those before it, also from before the time that is asked for. */
async function readTasks(
  { snapshot, tier, heads, covered }: Reading,
  places: Places,
): Promise<readonly WholeTask[]> {
  const taskIds = [...new Set(places.values())]
  if (taskIds.length === 0) return []
  const hot = await readRecordsOfTasks(snapshot, taskIds)
  const counts = await countTaskRecords(snapshot, taskIds)
  const byChain = new Map(heads.map((head) => [head.chain, head]))
  const tasks: WholeTask[] = []
  for (const taskId of taskIds) {
    const rows = hot.get(taskId) ?? []
    const isHot = rows.length === counts.get(taskId)
    const read = isHot ? undefined : await readTierRecords(snapshot, tier, taskId)
    const last = read?.lastExpired
    const gone = await proveExpiry(snapshot, { last, heads: byChain }, { covered, tier })
    tasks.push(judgeTask(taskId, read ?? { ...ALL_HOT, rows }, gone.findings))
  }
  return tasks
}

const ALL_HOT = { findings: [], expired: 0, lastExpired: undefined }

function judgeTask(
  taskId: string,
  { rows, findings, expired, lastExpired }: TaskRecords,
  more: readonly Finding[],
): WholeTask {
  const records = rows.flatMap((row) => {
    const body = readRecord(row.body)
    if (body === undefined) return []
    return [{ body, row, recordHash: recordHash(row.body).toString('hex') }]
  })
  const isSound = records.every(({ row, body }) => rowFindings(row, body, '').length === 0)
  const isLinked =
    records.length === rows.length &&
    traceGaps(records, { taskSeq: expired, hash: lastExpired?.recordHash }).length === 0
  const isDoubtful = findings.length + more.length > 0 || !isSound || !isLinked
  return { taskId, rows, records, isDoubtful, isExpired: expired > 0 }
}

type Proven = Awaited<ReturnType<typeof proveRows>>

/** In one set, which is much less work; task by task where that fails, so that the others keep their proof. */
async function proveTasks(
  tasks: readonly WholeTask[],
  prove: (rows: readonly RecordRow[]) => Promise<Proven>,
): Promise<ReadonlyMap<WholeTask, Proven>> {
  const all = await prove(tasks.flatMap(({ rows }) => rows))
  const proofs = new Map<WholeTask, Proven>()
  for (const task of tasks) {
    proofs.set(task, all.findings.length === 0 ? all : await prove(task.rows))
  }
  return proofs
}

/** Adds up by the keys that are asked for. */
function createSum(by: readonly CostKey[]) {
  const rows = new Map<string, { -readonly [Member in keyof CostRow]: CostRow[Member] }>()
  const doubtful = new Set<string>()
  const expired = new Set<string>()
  const records = { proven: 0, unproven: 0 }

  function addCharge({ record, agent, toAgent, ...amounts }: Charge): void {
    const day = record.recordedAt.slice(0, 10)
    const all = { agent, to: toAgent, day }
    const keys = {
      agent: null,
      to: null,
      day: null,
      ...Object.fromEntries(by.map((key) => [key, all[key]])),
    }
    const name = JSON.stringify(keys)
    const row = rows.get(name) ?? { ...keys, ...NOTHING }
    row.spentMicroUSD += amounts.spentMicroUSD
    row.promptTokens += amounts.promptTokens
    row.completionTokens += amounts.completionTokens
    row.charges += 1
    rows.set(name, row)
  }

  return {
    add(task: WholeTask, places: Places, proofs: ReadonlyMap<WholeTask, Proven>): void {
      const proven = proofs.get(task)
      for (const charge of taskCharges(task.records.map(({ body }) => body))) {
        if (places.has(placeOf(charge.record))) addCharge(charge)
      }
      for (const { row, body } of task.records) {
        if (!places.has(placeOf(body))) continue
        if (proven?.proofOf(row) === 'none') records.unproven += 1
        else records.proven += 1
      }
      if (task.isDoubtful || (proven?.findings.length ?? 0) > 0) doubtful.add(task.taskId)
      if (task.isExpired) expired.add(task.taskId)
    },
    result: () => ({
      rows: [...rows.values()],
      records,
      doubtful: [...doubtful],
      expired: [...expired],
    }),
  }
}

const NOTHING = { spentMicroUSD: 0, promptTokens: 0, completionTokens: 0, charges: 0 }
