// Erases a person from the audit store without losing the proof: planned by one, confirmed by another, safe to rerun.
// No answer names the person.
import { uuidBytes } from '@baton/ledger'
import type { AuditEntry, Receipt, SegmentVerdict } from '@baton/ledger'
import { crashPoint, permanent, transient } from '@baton/runtime'
import type { KeyObject } from 'node:crypto'
import type { StorageLeft } from '@baton/postgres'
import type { Database, Pool } from '../database.ts'
import { judgeErased } from './erased-verdicts.ts'
import type { ColdReading } from './erased-verdicts.ts'
import {
  destroyKeys,
  detachKeys,
  findKeysOfSubject,
  isErasureOf,
  noteErasure,
  readDetachedKeys,
} from './erasure-keys.ts'
import * as erased from './erased-segments.ts'
import { erasureEntries } from './erasure-entries.ts'
import { reachOf } from './reach.ts'
import type { ErasedStore, Person, Reach } from './reach.ts'
import { readStorageLeft } from './storage-left.ts'
import * as erasures from './erasures.ts'
import { createAuthenticatedErasures } from './authenticated-erasures.ts'
import type { HoldFinder, HoldsLooked } from './find-holds.ts'
import { findToldTasksOf } from './held-subjects.ts'
import { findHeldTasks } from './held-tasks.ts'
import type { UnprovenHold } from './held-tasks.ts'
import { judgeErasure, signErasure } from './signed-erasure.ts'
import type { ErasureSigner } from './signed-erasure.ts'
import type { Erasure, ErasureProof } from './erasures.ts'
import { proveSubjectRecords } from './subject-records.ts'
import type { SubjectRecord } from './subject-records.ts'
import type { CoveredSizes } from '../read/assurance.ts'
import { readSubjectKeys } from '../append/subject-keys.ts'
import type { SubjectVault } from '../append/subject-vault.ts'

interface EraserOptions {
  /** Connected as audit_eraser. */
  readonly db: Database
  /** Connected as audit_reader. */
  readonly reader: Pool
  /** Connected as vault_keeper. */
  readonly vaultDb: Database
  readonly vault: SubjectVault
  readonly environment: string
  /** Trusted public keys of append services, by key id. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly append: (entries: readonly AuditEntry[]) => Promise<readonly Receipt[]>
  readonly signer: ErasureSigner
  /** Undefined where there is no cold tier. */
  readonly cold: ColdReading | undefined
  /** What seals cover now, read for this question; undefined where nobody seals. */
  readonly covered: () => Promise<CoveredSizes | undefined>
  /** How old the newest seal may be where it rests on it that no hold was set. */
  readonly sealAgeMaxMs: number
  /** Which tasks were ever held. */
  readonly finder: HoldFinder
}

export interface ErasurePlan
  extends Pick<Erasure, 'id' | 'basis' | 'requestedBy' | 'handoffIds' | 'taskIds'>, Person {}

export interface Planned {
  readonly state: 'PLANNED' | 'DEFERRED'
  readonly stores: readonly ErasedStore[]
  /** Tasks under a legal hold: nothing is erased while there is one. */
  readonly heldTaskIds: readonly string[]
}

type Confirmation = Pick<Erasure, 'id' | 'handoffIds' | 'taskIds'> &
  Person & {
    readonly confirmedBy: string
  }

export type Confirmed =
  | { readonly kind: 'erased'; readonly erasure: Erasure }
  | {
      readonly kind: 'refused'
      readonly why: 'unknown' | 'own' | 'other_subject' | 'held' | 'state' | 'unproven'
    }

/** What every store answered, and the records that prove it; without the person. */
export interface ErasureOutcome {
  readonly erasure: Erasure
  readonly stores: readonly ErasedStore[]
  /** What the files under the log and the vault can still hold. */
  readonly storage: readonly StorageLeft[]
  readonly verdicts: Readonly<Record<SegmentVerdict, number>>
  readonly records: readonly ErasureProof[]
}

interface Replayed {
  readonly resumed: number
  readonly keys: number
  readonly payloads: number
  /** Erasures under way, and subjects said to be erased, that nothing proves. */
  readonly unproven: readonly string[]
}

/** `proven`: it says what an auditor signed. */
export type KnownErasure = Erasure & { readonly proven: boolean }

export interface Eraser {
  /** Counts what would go, and notes the request. A legal hold defers it, which is recorded. */
  plan(plan: ErasurePlan): Promise<Planned>
  /** The second person's word. Then the audit side is erased at once; see `run`. */
  confirm(confirmation: Confirmation): Promise<Confirmed>
  /**
   * Records the request with the final list of segments, destroys the keys, deletes the payloads. The list
   * is final because the keys were taken out of the map from people to keys, and closed for appends, first.
   */
  run(id: string): Promise<Erasure>
  /** Records the end, then looks at every segment again. Call it once the other stores are erased. */
  complete(id: string): Promise<ErasureOutcome>
  /** Keeps the receipt and ends the erasure. */
  file(id: string, receipt: object): Promise<Erasure>
  /**
   * Carries on what a crash interrupted, and erases again what a restored backup brought back. Answers what
   * it found to do; nothing in the ordinary case. What no auditor signed is left alone, and told.
   */
  replay(): Promise<Replayed>
  find(id: string): Promise<KnownErasure | undefined>
  /** Those that say what an auditor signed. */
  list(states: readonly erasures.ErasureState[]): Promise<Erasure[]>
  /** Where a person stands in the log, without text; each record proven as in a trace. */
  search(person: Person): Promise<SubjectRecord[]>
}

/** Plans and carries out erasures on the log, its cold tier and the vault. */
export function createEraser(options: EraserOptions): Eraser {
  const { db, vaultDb, append, signer, batchKeys } = options
  const reach = reachOf(options)
  const isProven = (erasure: Erasure): boolean => judgeErasure(erasure, batchKeys) === 'proven'

  const run = (id: string): Promise<Erasure> => carryOut(options, reach, id)

  return {
    run,
    async plan(plan) {
      const lookup = reach.lookupOf(plan)
      const refs = await findKeysOfSubject(vaultDb, lookup)
      const { taskIds, looked } = await tasksOf(options, reach, { refs, known: plan.taskIds })
      const heldTaskIds = await heldOf(options, taskIds, looked)
      const state = heldTaskIds.length === 0 ? 'PLANNED' : 'DEFERRED'
      if (state === 'PLANNED') await noteErasure(vaultDb, plan.id, lookup)
      const signed = signErasure({ ...plan, taskIds, confirmedBy: null }, signer)
      await erasures.addErasure(db, { ...plan, taskIds, state, signed })
      if (state === 'DEFERRED') {
        await append(erasureEntries(plan, { event: 'ERASURE_DEFERRED', actor: plan.requestedBy }))
      }
      return { state, heldTaskIds, stores: await reach.countStores(refs, taskIds) }
    },
    async confirm(confirmation) {
      const why = await confirmPlan(options, reach, confirmation)
      if (why !== undefined) return { kind: 'refused', why }
      return { kind: 'erased', erasure: await run(confirmation.id) }
    },
    async complete(id) {
      const erasure = await run(id)
      const lists = await erased.readErasedLists(db, id)
      const actor = erasure.confirmedBy ?? ''
      crashPoint('erasure.before_completed')
      await append(erasureEntries(erasure, { event: 'ERASURE_COMPLETED', actor }, lists))
      return {
        erasure,
        stores: await reach.countErased(erasure, lists),
        storage: await readStorageLeft({ db, vaultDb }),
        verdicts: await judgeErased(options, id),
        records: await erasures.readProofs(db, id),
      }
    },
    async file(id, receipt) {
      await erasures.completeErasure(db, id, receipt)
      return readKnown(db, id)
    },
    async replay() {
      const open = await erasures.listErasures(db, ['CONFIRMED'])
      const { proven = [], refused = [] } = Object.groupBy(open, (erasure) =>
        isProven(erasure) ? 'proven' : 'refused',
      )
      for (const { id } of proven) await run(id)
      const { unnamed, ...again } = await eraseAgain(options)
      return {
        resumed: proven.length,
        ...again,
        unproven: [...refused.map(({ id }) => id), ...unnamed],
      }
    },
    async find(id) {
      const erasure = await erasures.findErasure(db, id)
      return erasure && { ...erasure, proven: isProven(erasure) }
    },
    list: async (states) => (await erasures.listErasures(db, states)).filter(isProven),
    async search(person) {
      const refs = await findKeysOfSubject(vaultDb, reach.lookupOf(person))
      const { reader, cold, covered } = options
      const places = await erasures.findSubjectRecords(db, refs)
      return proveSubjectRecords({ reader, cold: cold?.store, covered: await covered() }, places)
    },
  }
}

/** See `Eraser.run`. */
async function carryOut(options: EraserOptions, reach: Reach, id: string): Promise<Erasure> {
  const { db, vaultDb, vault, append, batchKeys } = options
  const erasure = await readKnown(db, id)
  if (judgeErasure(erasure, batchKeys) !== 'proven') throw unproven(id)
  if (erasure.state !== 'CONFIRMED') return erasure
  await detachKeys(vaultDb, id)
  const subjectRefs = await readDetachedKeys(vaultDb, id)
  const cold = await reach.readCold(subjectRefs, erasure.taskIds)
  await erased.closeSubjects(db, id, { subjectRefs, cold: cold.segments })
  const lists = await erased.readErasedLists(db, id)
  const actor = erasure.requestedBy
  await append(erasureEntries(erasure, { event: 'ERASURE_REQUESTED', actor }, lists))
  crashPoint('erasure.after_request')
  await destroyKeys(vaultDb, subjectRefs.map(uuidBytes))
  vault.forget()
  crashPoint('erasure.after_key')
  await erased.erasePayload(db, id)
  crashPoint('erasure.after_payloads')
  await erasures.markErased(db, id)
  return readKnown(db, id)
}

/**
 * What a restore brought back of erasures that are past their request. The table of erased subjects is believed where a
 * signed record names the subject with its list; anybody else's key is none of an erasure's business.
 */
async function eraseAgain({ db, vaultDb, vault, batchKeys, reader, cold }: EraserOptions) {
  const listed = await erasures.readErasedSubjects(db)
  const found = await readSubjectKeys(vaultDb, listed.map(uuidBytes))
  const authentic = createAuthenticatedErasures(reader, batchKeys, cold?.store)
  const named = await authentic.subjects(found.map(({ subjectRef }) => subjectRef))
  const keys = await destroyKeys(vaultDb, [...named].map(uuidBytes))
  if (keys > 0) vault.forget()
  let payloads = 0
  for (const id of await erasures.findUnreflectedErasures(db)) {
    payloads += await erased.erasePayload(db, id)
  }
  const unnamed = found.map(({ subjectRef }) => subjectRef).filter((ref) => !named.has(ref))
  return { keys, payloads, unnamed }
}

const unproven = (id: string) =>
  permanent(
    'BATON_ERASURE_UNPROVEN',
    `what the table says of erasure ${id} is not what an auditor signed`,
    {
      fix: 'Run `baton verify`, which names what was changed; nothing is erased on the word of the table.',
    },
  )

async function readKnown(db: Database, id: string): Promise<Erasure> {
  const erasure = await erasures.findErasure(db, id)
  if (erasure === undefined) throw new TypeError('only a known erasure is run')
  return erasure
}

/** Confirms a plan; why not, where it may not be. What was confirmed before stays confirmed. */
async function confirmPlan(
  options: EraserOptions,
  reach: Reach,
  { id, confirmedBy, subject, tenant, ...confirmed }: Confirmation,
): Promise<Extract<Confirmed, { kind: 'refused' }>['why'] | undefined> {
  const { db, vaultDb } = options
  const found = await erasures.findErasure(db, id)
  if (found === undefined) return 'unknown'
  if (judgeErasure(found, options.batchKeys) !== 'proven') return 'unproven'
  if (found.requestedBy === confirmedBy) return 'own'
  if (found.state === 'DEFERRED') return 'state'
  if (found.state !== 'PLANNED') return undefined
  const lookup = reach.lookupOf({ subject, tenant })
  if (!(await isErasureOf(vaultDb, id, lookup))) return 'other_subject'
  const refs = await findKeysOfSubject(vaultDb, lookup)
  const { taskIds, looked } = await tasksOf(options, reach, { refs, known: confirmed.taskIds })
  if ((await heldOf(options, taskIds, looked)).length > 0) return 'held'
  const { handoffIds } = confirmed
  const signed = signErasure({ ...found, confirmedBy, handoffIds, taskIds }, options.signer)
  await erasures.confirmErasure(db, id, { by: confirmedBy, handoffIds, taskIds, signed })
  return undefined
}

/** Where the gateway and the log know of the subjects, and every task that may be held and tells of them. */
async function tasksOf(
  { reader, cold, covered, sealAgeMaxMs, finder }: EraserOptions,
  reach: Reach,
  { refs, known }: { readonly refs: readonly string[]; readonly known: readonly string[] },
): Promise<{ readonly taskIds: readonly string[]; readonly looked: HoldsLooked }> {
  const now = await covered()
  const reading = { reader, cold: cold?.store, covered: now, sealAgeMaxMs, finder }
  const { looked, taskIds } = await findToldTasksOf(reading, refs)
  return { looked, taskIds: await reach.tasksOf(refs, [...known, ...taskIds]) }
}

/**
 * Throws BATON_HOLD_LIFT_UNPROVEN or BATON_HOLD_UNPROVEN where nothing is seen to hold the tasks, and that is not proven yet:
 * of one of them, or because a hold may stand among records that were not read, or are not what was sealed.
 */
async function heldOf(
  { reader, cold, batchKeys, covered, sealAgeMaxMs }: EraserOptions,
  taskIds: readonly string[],
  looked: HoldsLooked,
): Promise<readonly string[]> {
  const sealed = await covered()
  const reading = { reader, cold: cold?.store, batchKeys, covered: sealed, sealAgeMaxMs }
  const { held, unproven } = await findHeldTasks(reading, taskIds)
  const [first] = unproven
  if (held.length > 0) return held
  if (first !== undefined) throw first.kind === 'lift' ? liftUnproven(first) : holdUnproven(first)
  if (sealed !== undefined && looked.why !== null) throw logUnproven(looked.why)
  return held
}

type UnprovenOf<Kind> = Extract<UnprovenHold, { readonly kind: Kind }>

function liftUnproven({ taskId, liftedAt }: UnprovenOf<'lift'>) {
  const ageS = Math.max(0, (Date.now() - liftedAt) / 1_000).toFixed(1)
  const message = `the legal hold on task ${taskId} was lifted ${ageS} s ago, and no signed tree head proves that yet`
  return transient('BATON_HOLD_LIFT_UNPROVEN', message, {
    fix: 'Try again when the sealer has signed it, which takes about a second. Where it stays so for a minute, run `baton verify`: the sealer has stopped, or the lift was forged.',
  })
}

const holdUnproven = ({ taskId, why }: UnprovenOf<'end'>) =>
  untilProven(`it is not proven that no legal hold stands on task ${taskId}: ${why}`)

const logUnproven = (why: string) =>
  untilProven(`it is not proven of whom the held tasks tell: ${why}`)

const untilProven = (message: string) =>
  transient('BATON_HOLD_UNPROVEN', message, {
    fix: 'Try again in seconds: the sealer signs and maps what is new. Where it stays so for a minute, read the sealer’s log (a lock that somebody holds, a cold store that cannot be read), and run `baton verify`, which names what is missing.',
  })
