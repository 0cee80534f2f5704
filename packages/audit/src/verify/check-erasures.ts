// The tables of erasures compared with the records that tell of them: who asked, who confirmed, and which segments are listed.
import { erasureOf } from '@baton/ledger'
import type { Finding, RecordBody } from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import { readClosedSubjects, readErasures } from '../erasure/erasures.ts'
import type { Erasure } from '../erasure/erasures.ts'
import { judgeErasure } from '../erasure/signed-erasure.ts'
import { readListsOf } from '../erasure/erased-segments.ts'
import { readArchivePositions } from '../cold/archive-positions.ts'
import type { Snapshot } from '../database.ts'
import { NO_FINDINGS, stateFinding } from './state-check.ts'
import type { StateCheck } from './state-check.ts'

/** What the records say of one erasure. */
interface Told {
  /** Its first record. */
  readonly place: { readonly origin: string; readonly seq: number }
  requested?: RecordBody
  completed?: RecordBody
  deferred?: RecordBody
  readonly lists: Map<string, NonNullable<RecordBody['erasure']>>
}

const LISTS_AT_ONCE = 500

/** An erasure whose records have expired is not looked at any more. */
export function checkErasures(
  snapshot: Snapshot,
  batchKeys: ReadonlyMap<string, KeyObject>,
): StateCheck {
  const told = new Map<string, Told>()
  return {
    next({ origin }, { reading: body }) {
      const event = body && EVENTS[body.event]
      if (body === undefined || event === undefined) return NO_FINDINGS
      const { handoffId: id, seq, erasure } = body
      const known: Told = told.get(id) ?? { place: { origin, seq }, lists: new Map() }
      known[event] ??= body
      if (erasure !== undefined) known.lists.set(erasure.subjectRef, erasure)
      told.set(id, known)
      return NO_FINDINGS
    },
    async finish() {
      const rows = new Map<string, Erasure>()
      for await (const some of readErasures(snapshot)) for (const row of some) rows.set(row.id, row)
      const keptFromMs = await firstKept(snapshot)
      return [
        ...[...told].flatMap(([id, one]) => {
          const fault = faultOf(rows.get(id), one)
          return fault === undefined ? [] : [stateFinding(one.place, `erasure ${id}: ${fault}`)]
        }),
        ...[...rows.values()]
          .filter((row) => !told.has(row.id) && isUntold(row, keptFromMs))
          .map(({ id }) =>
            stateFinding(
              undefined,
              `erasure ${id} is said to be carried out, and no record says so`,
            ),
          ),
        ...[...rows.values()]
          .filter((row) => judgeErasure(row, batchKeys) === 'altered')
          .map(({ id }) =>
            stateFinding(
              told.get(id)?.place,
              `erasure ${id}: the table does not say what the auditor signed`,
            ),
          ),
        ...(await checkLists(snapshot, told)),
        ...(await checkSubjects(snapshot, { told, rows, keptFromMs })),
      ]
    },
  }
}

const EVENTS: Readonly<Record<string, Stage>> = {
  ERASURE_REQUESTED: 'requested',
  ERASURE_COMPLETED: 'completed',
  ERASURE_DEFERRED: 'deferred',
}

/** The row is written before the record that tells of it, and its state moves on behind the record. */
function faultOf(row: Erasure | undefined, told: Told): string | undefined {
  const { requested, completed, deferred } = told
  if (row === undefined) return 'the table of erasures does not have it'
  const asked = requested ?? deferred
  if (asked !== undefined && asked.act?.actor !== row.requestedBy)
    return 'the table names another person who asked for it than its record'
  if (requested !== undefined && requested.reason !== row.basis)
    return 'the table names another legal ground than its record'
  if (completed !== undefined && completed.act?.actor !== row.confirmedBy)
    return 'the table names another person who confirmed it than its record, or nobody'
  return STATES[stageOf(told)].includes(row.state)
    ? undefined
    : 'the table says that it has come to another state than its records'
}

type Stage = 'requested' | 'completed' | 'deferred'

function stageOf({ requested, completed }: Told): Stage {
  if (completed !== undefined) return 'completed'
  return requested === undefined ? 'deferred' : 'requested'
}

const STATES: Readonly<Record<Stage, readonly Erasure['state'][]>> = {
  deferred: ['DEFERRED'],
  requested: ['CONFIRMED', 'ERASED'],
  completed: ['ERASED', 'COMPLETED'],
}

const isUntold = ({ state, requestedAt }: Erasure, keptFromMs: number): boolean =>
  (state === 'ERASED' || state === 'COMPLETED') && requestedAt.getTime() >= keptFromMs

/** Records from before may have expired. */
async function firstKept(snapshot: Snapshot): Promise<number> {
  const positions = [...(await readArchivePositions(snapshot)).values()]
  return Math.max(0, ...positions.map(({ startMicros }) => startMicros / 1_000))
}

/** The lists of segments, against the digests that the records hold. */
async function checkLists(
  snapshot: Snapshot,
  told: ReadonlyMap<string, Told>,
): Promise<readonly Finding[]> {
  const expected = [...told].flatMap(([id, { place, lists }]) =>
    [...lists.values()].map((list) => ({ id, place, list })),
  )
  const findings: Finding[] = []
  for (let at = 0; at < expected.length; at += LISTS_AT_ONCE) {
    const some = expected.slice(at, at + LISTS_AT_ONCE)
    const refs = some.map(({ list }) => list.subjectRef)
    const stored = new Map(
      (await readListsOf(snapshot, refs)).map((one) => [one.subjectRef, one.places]),
    )
    for (const { id, place, list } of some) {
      const { listSha256 } = erasureOf(list.subjectRef, stored.get(list.subjectRef) ?? [])
      if (listSha256 === list.listSha256) continue
      const message = `erasure ${id}: the list of its segments is not the one that was recorded`
      findings.push(stateFinding(place, message))
    }
  }
  return findings
}

interface Rows {
  readonly told: ReadonlyMap<string, Told>
  readonly rows: ReadonlyMap<string, Erasure>
  readonly keptFromMs: number
}

/** Closed subjects, against the erasures that closed them; one that is being carried out closes them before its record. */
async function checkSubjects(
  snapshot: Snapshot,
  { told, rows, keptFromMs }: Rows,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const stored = new Set<string>()
  for (const { subjectRef, erasureId, erasedAt } of await readClosedSubjects(snapshot)) {
    stored.add(`${erasureId} ${subjectRef}`)
    const one = told.get(erasureId)
    const isTold = one?.lists.has(subjectRef) === true
    const isUnderWay = rows.get(erasureId)?.state === 'CONFIRMED'
    if (isTold || isUnderWay || erasedAt.getTime() < keptFromMs) continue
    const message = `erasure ${erasureId}: a subject is listed as erased by it that no record names`
    findings.push(stateFinding(one?.place, message))
  }
  for (const [id, { place, lists }] of told) {
    const isListed = [...lists.keys()].every((ref) => stored.has(`${id} ${ref}`))
    const message = `erasure ${id}: a subject that it erased is not listed any more`
    if (!isListed) findings.push(stateFinding(place, message))
  }
  return findings
}
