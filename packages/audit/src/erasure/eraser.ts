// Erases a person from the audit store without losing the proof: planned by one, confirmed by another, safe to rerun.
// No answer names the person.
import {
  arrivalFault,
  decisionFault,
  DEFAULT_TENANT,
  erasureConfirmation,
  erasureFault,
  erasureRequest,
  recorded,
  tenantOfOperator,
  uuidBytes,
} from '@baton/ledger'
import type {
  AuditEntry,
  Decision,
  DecisionFault,
  DecisionSignature,
  People,
  Receipt,
  RecordedSignature,
  SegmentVerdict,
} from '@baton/ledger'
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
import { judgeErasure, peoplesFault, signErasure } from './signed-erasure.ts'
import type { ErasureSigner } from './signed-erasure.ts'
import type { Erasure, ErasureProof } from './erasures.ts'
import { proveSubjectRecords } from './subject-records.ts'
import type { SubjectRecord } from './subject-records.ts'
import type { CoveredSizes } from '../read/assurance.ts'
import { readSubjectKeys } from '../append/subject-keys.ts'
import type { Lookup } from '../append/subject-keys.ts'
import type { SubjectVault } from '../append/subject-vault.ts'

interface EraserOptions {
  /** Connected as audit_eraser. */
  readonly db: Database
  /** Connected as audit_writer, which alone closes subjects. */
  readonly writer: Database
  /** Connected as audit_reader. */
  readonly reader: Pool
  /** Connected as vault_keeper. */
  readonly vaultDb: Database
  readonly vault: SubjectVault
  readonly environment: string
  /** Trusted public keys of append services, by key id. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Whose decisions count. */
  readonly people: People
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
  extends Pick<Erasure, 'id' | 'basis' | 'requestedBy' | 'handoffIds' | 'taskIds'>, Person {
  /** What `requestedBy` signed. */
  readonly signedDecision: DecisionSignature | undefined
}

/** The signature that it takes is missing or does not count; `decision` is what to sign. */
export interface ErasureUnsigned {
  readonly kind: 'unsigned'
  readonly fault: DecisionFault
  readonly decision: Decision
}

/** `taken`: another plan has this id, or what was planned under it has gone on. */
export type PlanOutcome = Planned | ErasureUnsigned | { readonly kind: 'taken' }

export interface Planned {
  readonly kind: 'planned'
  readonly state: 'PLANNED' | 'DEFERRED'
  readonly stores: readonly ErasedStore[]
  /** Tasks under a legal hold: nothing is erased while there is one. */
  readonly heldTaskIds: readonly string[]
}

type Confirmation = Pick<Erasure, 'id' | 'handoffIds' | 'taskIds'> &
  Person & {
    readonly confirmedBy: string
    /** What `confirmedBy` signed; not asked for again of what is confirmed. */
    readonly signedDecision: DecisionSignature | undefined
  }

export type Confirmed =
  | { readonly kind: 'erased'; readonly erasure: Erasure }
  | ConfirmRefused
  | ErasureUnsigned

interface ConfirmRefused {
  readonly kind: 'refused'
  readonly why:
    | 'unknown'
    | 'own'
    | 'other_subject'
    | 'held'
    | 'state'
    | 'unproven'
    | 'unsigned_plan'
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

/** `proven`: it says what an auditor and, since people sign erasures, its people signed. */
export type KnownErasure = Erasure & { readonly proven: boolean }
export type ListedErasure = KnownErasure & { readonly position: string }

export interface Eraser {
  /** Counts what would go, and notes the signed request. A legal hold defers it, which is recorded. */
  plan(plan: ErasurePlan): Promise<PlanOutcome>
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
  /** The newest first, each with whether it is proven. */
  list(page: erasures.ErasurePage): Promise<readonly ListedErasure[]>
  count(filter: erasures.ErasureFilter): Promise<number>
  /** Where a person stands in the log, without text; each record proven as in a trace. */
  search(person: Person): Promise<SubjectRecord[]>
}

/** So many that were interrupted are carried on at once. */
const OPEN_MAX = 1_000

/** Plans and carries out erasures on the log, its cold tier and the vault. */
export function createEraser(options: EraserOptions): Eraser {
  const { db, vaultDb, append } = options
  const reach = reachOf(options)
  const isProven = (erasure: Erasure): boolean => isDecided(options, erasure)

  const run = (id: string): Promise<Erasure> => carryOut(options, reach, id)

  return {
    run,
    plan: (plan) => planOnce(options, reach, plan),
    async confirm(confirmation) {
      const refused = await confirmPlan(options, reach, confirmation)
      if (refused !== undefined) return refused
      return { kind: 'erased', erasure: await run(confirmation.id) }
    },
    async complete(id) {
      const erasure = await run(id)
      const lists = await erased.readErasedLists(db, id)
      const actor = erasure.confirmedBy ?? ''
      const signed = erasure.signed?.confirmed
      crashPoint('erasure.before_completed')
      await append(erasureEntries(erasure, { event: 'ERASURE_COMPLETED', actor, signed }, lists))
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
      const open = await erasures.listErasures(db, { states: ['CONFIRMED'], limit: OPEN_MAX })
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
    list: async (page) =>
      (await erasures.listErasures(db, page)).map((one) => ({ ...one, proven: isProven(one) })),
    count: (filter) => erasures.countErasures(db, filter),
    async search(person) {
      const refs = await findKeysOfSubject(vaultDb, reach.lookupsOf(person))
      const { reader, cold, covered } = options
      const places = await erasures.findSubjectRecords(db, refs)
      return proveSubjectRecords({ reader, cold: cold?.store, covered: await covered() }, places)
    },
  }
}

/**
 * Whether an auditor signed what the row says and, where it is still to be carried on, two people did too. What was completed
 * stays so when a key of theirs is taken out of BATON_PEOPLE; what is under way stops. How far it has come is the table's own
 * word: a plan that it calls confirmed, or more, is none that anybody confirmed.
 */
function isDecided({ batchKeys, people }: EraserOptions, erasure: Erasure): boolean {
  if (judgeErasure(erasure, batchKeys) !== 'proven') return false
  if (isPlan(erasure)) return true
  if (erasure.confirmedBy === null) return false
  return erasure.state === 'COMPLETED' || peoplesFault(erasure, people) === undefined
}

const isPlan = ({ state }: Erasure): boolean => state === 'PLANNED' || state === 'DEFERRED'

/** See `Eraser.plan`. */
async function planOnce(
  options: EraserOptions,
  reach: Reach,
  plan: ErasurePlan,
): Promise<PlanOutcome> {
  const { db, vaultDb, append, signer } = options
  const { id, requestedBy, signedDecision } = plan
  const asked = readSigned(options, plan, erasureRequest(plan, requestedBy), signedDecision)
  if (asked.kind === 'unsigned') return asked
  const lookups = reach.lookupsOf(plan)
  const refs = await findKeysOfSubject(vaultDb, lookups)
  const { taskIds, looked } = await tasksOf(options, reach, { refs, known: plan.taskIds })
  const heldTaskIds = await heldOf(options, taskIds, looked)
  if ((await erasures.findErasure(db, id)) === undefined) {
    const state = heldTaskIds.length === 0 ? 'PLANNED' : 'DEFERRED'
    if (state === 'PLANNED') await noteErasure(vaultDb, id, lookups)
    const { signed: requested } = asked
    const signed = signErasure({ ...plan, taskIds, confirmedBy: null }, { requested }, signer)
    await erasures.addErasure(db, { ...plan, taskIds, state, signed })
  }
  const kept = await readKnown(db, id)
  const { state } = kept
  if (state !== 'PLANNED' && state !== 'DEFERRED') return TAKEN
  if (!(await isSamePlan(options, kept, { plan, lookups }))) return TAKEN
  if (state === 'DEFERRED') {
    const signed = kept.signed?.requested
    await append(erasureEntries(plan, { event: 'ERASURE_DEFERRED', actor: requestedBy, signed }))
  }
  return { kind: 'planned', state, heldTaskIds, stores: await reach.countStores(refs, taskIds) }
}

const TAKEN = { kind: 'taken' } as const

/** Whether what is kept under this id is this plan, said again. */
async function isSamePlan(
  { batchKeys, vaultDb }: EraserOptions,
  kept: Erasure,
  { plan, lookups }: { readonly plan: ErasurePlan; readonly lookups: readonly Lookup[] },
): Promise<boolean> {
  if (kept.requestedBy !== plan.requestedBy || kept.basis !== plan.basis) return false
  if (judgeErasure(kept, batchKeys) !== 'proven') return false
  return kept.state === 'DEFERRED' || (await isErasureOf(vaultDb, kept.id, lookups))
}

/** What somebody of this tenant signed, where it counts; otherwise what is to be signed. */
function readSigned(
  { people }: EraserOptions,
  { tenant = DEFAULT_TENANT }: Pick<Person, 'tenant'>,
  decision: Decision,
  signed: DecisionSignature | undefined,
): { readonly kind: 'signed'; readonly signed: RecordedSignature } | ErasureUnsigned {
  if (tenantOfOperator(decision.person) !== tenant)
    return { kind: 'unsigned', fault: 'other_person', decision }
  if (signed === undefined) return { kind: 'unsigned', fault: 'unsigned', decision }
  const fault = decisionFault(decision, signed, people) ?? arrivalFault(signed, people, new Date())
  if (fault !== undefined) return { kind: 'unsigned', fault, decision }
  return { kind: 'signed', signed: recorded(signed) }
}

/** See `Eraser.run`. */
async function carryOut(options: EraserOptions, reach: Reach, id: string): Promise<Erasure> {
  const { db, writer, vaultDb, vault, append } = options
  const erasure = await readKnown(db, id)
  if (!isDecided(options, erasure)) throw unproven(id)
  if (isPlan(erasure)) throw new TypeError('only what a second person confirmed is carried out')
  if (erasure.state !== 'CONFIRMED') return erasure
  await detachKeys(vaultDb, id)
  const subjectRefs = await readDetachedKeys(vaultDb, id)
  const cold = await reach.readCold(subjectRefs, erasure.taskIds)
  await erased.closeSubjects(writer, id, { subjectRefs, cold: cold.segments })
  const lists = await erased.readErasedLists(db, id)
  // Whoever holds the eraser's role can have put others among them.
  if (lists.some(({ subjectRef }) => !subjectRefs.includes(subjectRef))) throw unproven(id)
  const actor = erasure.requestedBy
  const signed = erasure.signed?.requested
  await append(erasureEntries(erasure, { event: 'ERASURE_REQUESTED', actor, signed }, lists))
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
  { id, confirmedBy, subject, tenant, signedDecision, ...confirmed }: Confirmation,
): Promise<ConfirmRefused | ErasureUnsigned | undefined> {
  const { db, vaultDb } = options
  const found = await erasures.findErasure(db, id)
  if (found === undefined) return refusedAs('unknown')
  if (!isDecided(options, found)) return refusedAs('unproven')
  if (found.requestedBy === confirmedBy) return refusedAs('own')
  if (found.state === 'DEFERRED') return refusedAs('state')
  if (found.state !== 'PLANNED') return undefined
  const requested = found.signed?.requested
  if (requested === undefined) return refusedAs('unsigned_plan')
  const lookups = reach.lookupsOf({ subject, tenant })
  if (!(await isErasureOf(vaultDb, id, lookups))) return refusedAs('other_subject')
  const decision = erasureConfirmation({ ...found, subject }, confirmedBy)
  const read = readSigned(options, { tenant }, decision, signedDecision)
  if (read.kind === 'unsigned') return read
  const refs = await findKeysOfSubject(vaultDb, lookups)
  const { taskIds, looked } = await tasksOf(options, reach, { refs, known: confirmed.taskIds })
  if ((await heldOf(options, taskIds, looked)).length > 0) return refusedAs('held')
  const { handoffIds } = confirmed
  const decided = { ...found, confirmedBy, handoffIds, taskIds }
  const signers = { requestedSigned: requested, confirmedSigned: read.signed }
  // The key of whoever planned it may count no more.
  const fault = erasureFault({ ...decided, ...signers }, options.people, Date.now())
  if (fault !== undefined) return refusedAs('unsigned_plan')
  const signatures = { requested, confirmed: read.signed }
  const signed = signErasure(decided, signatures, options.signer)
  await erasures.confirmErasure(db, id, { by: confirmedBy, handoffIds, taskIds, signed })
  return undefined
}

const refusedAs = (why: ConfirmRefused['why']): ConfirmRefused => ({ kind: 'refused', why })

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
