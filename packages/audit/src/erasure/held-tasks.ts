// Which tasks must not be erased now: what their own records say of a legal hold, and what the table of holds says.
import { parseInstant, uuidBytes } from '@baton/ledger'
import type { RecordBody } from '@baton/ledger'
import { BINARY } from '@baton/postgres'
import { anyOf, sql } from '@baton/postgres/statements'
import type { KeyObject } from 'node:crypto'
import type { ColdStore } from '../cold/cold-store.ts'
import { readHeads } from '../append/heads.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import { audit, inSnapshot, run } from '../database.ts'
import type { Database, Pool } from '../database.ts'
import { inPages, PAGE_ROWS } from '../pages.ts'
import type { CoveredSizes } from '../read/assurance.ts'
import { readTrace } from '../read/read-trace.ts'
import type { TaskTrace, TraceRecord } from '../read/read-trace.ts'
import { isSignedRecord } from '../read/signed-record.ts'
import { readHoldsBeyondMap } from './beyond-map.ts'
import type { HoldsBeyondMap } from './beyond-map.ts'
import type { FinderReading, FoundHolds, HoldFinder } from './find-holds.ts'

export interface HoldReading {
  /** Connected as audit_reader, or as another role that reads records. */
  readonly reader: Pool
  /** Where records stand that are not in the database any more. */
  readonly cold: ColdStore | undefined
  /**
   * Trusted public keys of append services, by key id. Who has none takes the seal's word, which is given for signed
   * batches alone.
   */
  readonly batchKeys?: ReadonlyMap<string, KeyObject>
  /** What seals cover now; undefined where nobody seals. */
  readonly covered: CoveredSizes | undefined
}

/** A task that nothing holds, as far as can be seen, and why that is not proven yet. */
export type UnprovenHold =
  | {
      readonly kind: 'lift'
      readonly taskId: string
      /** Milliseconds since 1970. No signed tree head covers the lift yet. */
      readonly liftedAt: number
    }
  | { readonly kind: 'end'; readonly taskId: string; readonly why: string }

export interface HeldTasks {
  /** In order. */
  readonly held: readonly string[]
  /** Neither held nor free: the sealer is waited for. */
  readonly unproven: readonly UnprovenHold[]
}

/**
 * Which of `taskIds` are held. The table follows from the records, and whoever owns the database can delete a
 * row of it, or append a record: a task is held where either says so, or where its records cannot be believed.
 * A lift counts once it is in a batch of a trusted append service and, where somebody seals, under a signed head. That there
 * is no hold counts where the newest map of tasks has the task's end, and nothing behind it says otherwise.
 */
export async function findHeldTasks(
  reading: HoldReading & { readonly sealAgeMaxMs: number },
  taskIds: readonly string[],
): Promise<HeldTasks> {
  const held = new Set(await listHeld(reading.reader, taskIds))
  const unproven: UnprovenHold[] = []
  const free: JudgedHold[] = []
  for (const taskId of taskIds) {
    if (held.has(taskId)) continue
    const judged = await judgeHold(reading, taskId)
    const { state, record } = judged
    if (state === 'held' || state === 'unverified') held.add(taskId)
    if (state === 'lift_unproven') {
      unproven.push({ kind: 'lift', taskId, liftedAt: millis(record) })
    }
    if (state === 'free') free.push(judged)
  }
  const { covered } = reading
  if (covered !== undefined && free.length > 0) {
    const beyond = await readHoldsBeyondMap({ ...reading, covered })
    for (const judged of free) {
      const { taskId } = judged
      const why = whyUnproven(judged, beyond)
      if (why === 'other') held.add(taskId)
      else if (why !== undefined) unproven.push({ kind: 'end', taskId, why: why.words })
    }
  }
  return { held: [...held].toSorted(), unproven }
}

/** `other`: behind the map stands a record about a hold that the task's own reading did not show. */
function whyUnproven(
  { taskId, record, ends }: JudgedHold,
  beyond: HoldsBeyondMap,
): 'other' | { readonly words: string } | undefined {
  if (beyond.kind === 'unproven') return { words: beyond.why }
  const { map, newest } = beyond
  const told = newest.get(taskId)
  if (told !== undefined && told !== record?.recordHash) return 'other'
  const isEndProven = map === undefined || ends.some(({ until }) => until === map.until)
  return isEndProven ? undefined : { words: 'the newest map of tasks does not say how it ends' }
}

const millis = (record: TraceRecord | undefined): number =>
  (parseInstant(record?.body.recordedAt ?? '') ?? 0) / 1_000

/** `unverified`: the task's records are not what was recorded, so that nothing they say is believed. */
type HoldState = 'free' | 'held' | 'lift_unproven' | 'unverified'

/** What the records of one task say of a hold, the newest of them that says it, and until when none is missing. */
interface JudgedHold extends Pick<TaskTrace, 'taskId' | 'ends'> {
  readonly state: HoldState
  readonly record: TraceRecord | undefined
}

async function judgeHold(reading: HoldReading, taskId: string): Promise<JudgedHold> {
  const { records, verified, expired, ends } = await readTrace(reading.reader, taskId, reading)
  const record = records.findLast(({ body }) => body.event in HOLDS)
  // A hold among records that are only said to have expired would be gone with them.
  const isUnproven = reading.covered !== undefined && expired > 0 && ends.length === 0
  const judged = { taskId, ends, record }
  if (!verified || isUnproven) return { ...judged, state: 'unverified' }
  if (record === undefined) return { ...judged, state: 'free' }
  const isLift = HOLDS[record.body.event] === false && (await isOfService(reading, record.body))
  if (!isLift) return { ...judged, state: 'held' }
  const isWaiting = reading.covered !== undefined && record.assurance === 'committed'
  return { ...judged, state: isWaiting ? 'lift_unproven' : 'free' }
}

/** One task that is held, or of which it is not proven that it is not. */
export interface ToldHold {
  readonly taskId: string
  /** `unrecorded`: the table of holds has it, and no record does. */
  readonly state: Exclude<HoldState, 'free'> | 'unrecorded'
  /** Whether the table of holds has it; that a hold is missing there, or stands there alone, is somebody's doing. */
  readonly isListed: boolean
  /** The newest record about it, and how well that is kept. */
  readonly record:
    | (Pick<RecordBody, 'origin' | 'seq' | 'event' | 'recordedAt' | 'reason'> &
        Pick<TraceRecord, 'recordHash' | 'assurance'> & { readonly actor: string | null })
    | null
}

export interface ToldHolds extends Pick<FoundHolds, 'looked'> {
  /** In order of time. */
  readonly holds: readonly ToldHold[]
  /** Behind which task the next ones are asked for; null where there are no more. */
  readonly next: string | null
}

/** Tasks that one answer judges at most. */
const TOLD_MAX = 200

/** Holds, told by their records; so many at once that whoever asks need not wait. */
export async function listHolds(
  reading: FinderReading & HoldReading & { readonly finder: HoldFinder },
  after: string = FIRST_UUID,
): Promise<ToldHolds> {
  const { looked, taskIds: recorded } = await reading.finder.look(reading)
  const told = [...recorded, ...(await readListed(reading.reader, after))]
  const found = [...new Set(told)].filter((taskId) => taskId > after).toSorted()
  const taskIds = found.slice(0, TOLD_MAX)
  const listed = new Set(await listHeld(reading.reader, taskIds))
  const holds: ToldHold[] = []
  for (const taskId of taskIds) {
    const { state, record } = await judgeHold(reading, taskId)
    const isListed = listed.has(taskId)
    if (state === 'free' && !isListed) continue
    const told = record && shown(record)
    holds.push({
      taskId,
      state: state === 'free' ? 'unrecorded' : state,
      isListed,
      record: told ?? null,
    })
  }
  return {
    holds: holds.toSorted((left, right) => (timeOf(left) < timeOf(right) ? -1 : 1)),
    looked,
    next: found.length > TOLD_MAX ? (taskIds.at(-1) ?? null) : null,
  }
}

const FIRST_UUID = '00000000-0000-0000-0000-000000000000'

async function readListed(db: Database, after: string): Promise<readonly string[]> {
  const rows = await run(
    db,
    'read_listed_holds',
    audit
      .selectFrom('audit.legal_hold')
      .select('task_id as taskId')
      .where('lifted_seq', 'is', null)
      .where('task_id', '>', after)
      .orderBy('task_id')
      // One more than are answered, which says that there are more.
      .limit(sql.lit(TOLD_MAX + 1)),
  )
  return rows.map(({ taskId }) => taskId)
}

const timeOf = ({ record, taskId }: ToldHold): string => `${record?.recordedAt ?? ''} ${taskId}`

const shown = ({ body, recordHash, assurance }: TraceRecord): ToldHold['record'] => {
  const { origin, seq, event, recordedAt, reason, act } = body
  const actor = act?.actor ?? null
  return { origin, seq, event, recordedAt, reason, recordHash, assurance, actor }
}

const HOLDS: Readonly<Record<string, boolean>> = { LEGAL_HOLD_SET: true, LEGAL_HOLD_LIFTED: false }

/**
 * Whether a task is held by the newest of its records that says so; undefined where that cannot be believed, as where whoever
 * owns the database wrote the record: it would take it away again.
 */
export async function isHeldBy(
  reading: HoldReading,
  { records, verified }: Pick<TaskTrace, 'records' | 'verified'>,
): Promise<boolean | undefined> {
  const newest = records.findLast(({ body }) => body.event in HOLDS)
  if (!verified) return undefined
  if (newest === undefined) return false
  const isBelieved = newest.assurance !== 'committed' || (await isOfService(reading, newest.body))
  return isBelieved ? HOLDS[newest.body.event] : undefined
}

/** Whether an append service made a record: whoever has none of their keys believes what is stored. */
function isOfService(
  { reader, cold, batchKeys }: HoldReading,
  { origin, seq }: RecordBody,
): Promise<boolean> {
  if (batchKeys === undefined) return Promise.resolve(true)
  return inSnapshot(reader, async (snapshot) => {
    const chain = (await readHeads(snapshot)).find((head) => head.origin === origin)?.chain
    if (chain === undefined) return false
    const tier = createColdTier(snapshot, cold)
    return isSignedRecord(snapshot, { chain, origin, seq }, { tier, batchKeys })
  })
}

/** Those of some tasks, and of those that the table of holds has, that have records of a day (YYYY-MM-DD), some at a time. */
export const findTasksToAsk = (
  db: Database,
  day: string,
  taskIds: readonly string[],
): AsyncGenerator<readonly string[]> =>
  inPages((after) => readTasksToAsk(db, { day, taskIds, after }))

async function readTasksToAsk(
  db: Database,
  {
    day,
    taskIds,
    after = FIRST_UUID,
  }: {
    readonly day: string
    readonly taskIds: readonly string[]
    readonly after: string | undefined
  },
): Promise<readonly string[]> {
  const start = new Date(`${day}T00:00:00Z`)
  const rows = await run(
    db,
    'find_tasks_to_ask',
    audit
      .selectFrom('audit.record')
      .select('task_id as taskId')
      .distinct()
      .where('recorded_at', '>=', start)
      .where('recorded_at', '<', new Date(start.getTime() + DAY_MS))
      .where(({ eb, or }) =>
        or([
          eb('task_id', '=', anyOf(BINARY.uuid, taskIds.map(uuidBytes))),
          eb('task_id', 'in', LISTED),
        ]),
      )
      .where('task_id', '>', after)
      .orderBy('task_id')
      .limit(sql.lit(PAGE_ROWS)),
  )
  return rows.map(({ taskId }) => taskId)
}

const DAY_MS = 86_400_000
const LISTED = audit.selectFrom('audit.legal_hold').select('task_id')

/** A lift that no seal covers yet is judged by its record, as every other. */
async function listHeld(db: Database, taskIds: readonly string[]): Promise<string[]> {
  const rows = await run(
    db,
    'find_held_tasks',
    audit
      .selectFrom('audit.legal_hold')
      .select('task_id as taskId')
      .where('lifted_seq', 'is', null)
      .where('task_id', '=', anyOf(BINARY.uuid, taskIds.map(uuidBytes))),
  )
  return rows.map((row) => row.taskId)
}
