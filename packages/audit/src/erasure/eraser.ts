// Erases a person from the audit store without losing the proof: planned by one, confirmed by another, safe to rerun.
import { uuidBytes } from '@baton/ledger'
import type { AuditEntry, Receipt } from '@baton/ledger'
import { crashPoint } from '@baton/runtime'
import type { KeyObject } from 'node:crypto'
import { readErasedObjects } from '../cold/erased-objects.ts'
import type { Database } from '../database.ts'
import { judgeErased } from './erased-verdicts.ts'
import type { ColdReading } from './erased-verdicts.ts'
import { erasureEntries } from './erasure-entries.ts'
import {
  destroyKeys,
  detachKeys,
  findKeysOfSubject,
  isErasureOf,
  noteErasure,
  readDetachedKeys,
} from './erasure-keys.ts'
import * as erased from './erased-segments.ts'
import * as erasures from './erasures.ts'
import type { Erasure, SubjectRecord } from './erasures.ts'
import type {
  ColdSegments,
  Confirmation,
  Confirmed,
  ErasedStore,
  ErasureOutcome,
  ErasurePlan,
  Planned,
} from './erasure-types.ts'
import { subjectName } from '../append/prepared-entry.ts'
import { readSubjectKeys } from '../append/subject-keys.ts'
import type { SubjectVault } from '../append/subject-vault.ts'

interface EraserOptions {
  /** Connected as audit_eraser. */
  readonly db: Database
  /** Connected as vault_keeper. */
  readonly vaultDb: Database
  readonly vault: SubjectVault
  readonly environment: string
  /** Trusted public keys of append services, by key id. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly append: (entries: readonly AuditEntry[]) => Promise<readonly Receipt[]>
  /** Undefined where there is no cold tier. */
  readonly cold: ColdReading | undefined
}

const NO_COLD: ColdSegments = { segments: [], stores: [] }

export class Eraser {
  readonly #options: EraserOptions

  constructor(options: EraserOptions) {
    this.#options = options
  }

  #lookup = (subject: string): Buffer =>
    this.#options.vault.lookupOf(subjectName(this.#options.environment, subject))

  /** What the cold tier holds of subjects, in the records of these tasks. */
  async #readCold(refs: readonly string[], taskIds: readonly string[]): Promise<ColdSegments> {
    const { cold, vault } = this.#options
    return cold === undefined ? NO_COLD : readErasedObjects({ ...cold, vault }, refs, taskIds)
  }

  /** Counts what would go, and notes the request. A legal hold defers it, which is recorded. */
  async plan(plan: ErasurePlan): Promise<Planned> {
    const { db, vaultDb, append } = this.#options
    const lookup = this.#lookup(plan.subject)
    const refs = await findKeysOfSubject(vaultDb, lookup)
    const taskIds = await this.#tasksOf(refs, plan.taskIds)
    const heldTaskIds = await erasures.findHeldTasks(db, taskIds)
    const state = heldTaskIds.length === 0 ? 'PLANNED' : 'DEFERRED'
    if (state === 'PLANNED') await noteErasure(vaultDb, plan.id, lookup)
    await erasures.addErasure(db, { ...plan, taskIds, state })
    if (state === 'DEFERRED') {
      await append(erasureEntries(plan, { event: 'ERASURE_DEFERRED', actor: plan.requestedBy }))
    }
    return { state, heldTaskIds, stores: await this.#stores(refs, taskIds) }
  }

  async #tasksOf(refs: readonly string[], known: readonly string[]): Promise<string[]> {
    const records = await erasures.findSubjectRecords(this.#options.db, refs)
    return [...new Set([...known, ...records.map((record) => record.taskId)])].toSorted()
  }

  async #stores(refs: readonly string[], taskIds: readonly string[]): Promise<ErasedStore[]> {
    const { db, vaultDb } = this.#options
    const keys = await readSubjectKeys(vaultDb, refs.map(uuidBytes))
    const hot = await erased.findSegmentsOf(db, refs)
    const cold = await this.#readCold(refs, taskIds)
    return [
      store('audit payload segments', hot.length),
      store('subject keys', keys.length),
      ...cold.stores,
    ]
  }

  /** The second person's confirmation. Then the audit side is erased at once; see `run`. */
  async confirm(confirmation: Confirmation): Promise<Confirmed> {
    const { db, vaultDb } = this.#options
    const { id, confirmedBy, subject, handoffIds } = confirmation
    const found = await erasures.findErasure(db, id)
    if (found === undefined) return { kind: 'refused', why: 'unknown' }
    if (found.requestedBy === confirmedBy) return { kind: 'refused', why: 'own' }
    if (found.state === 'PLANNED') {
      const lookup = this.#lookup(subject)
      if (!(await isErasureOf(vaultDb, id, lookup)))
        return { kind: 'refused', why: 'other_subject' }
      const refs = await findKeysOfSubject(vaultDb, lookup)
      const taskIds = await this.#tasksOf(refs, confirmation.taskIds)
      const held = await erasures.findHeldTasks(db, taskIds)
      if (held.length > 0) return { kind: 'refused', why: 'held' }
      await erasures.confirmErasure(db, id, { by: confirmedBy, handoffIds, taskIds })
    }
    const isDeferred = found.state === 'DEFERRED'
    return isDeferred
      ? { kind: 'refused', why: 'state' }
      : { kind: 'erased', erasure: await this.run(id) }
  }

  /**
   * Records the request with the final list of segments, destroys the keys, deletes the payloads. The list
   * is final because the keys were taken out of the map from people to keys, and closed for appends, first.
   */
  async run(id: string): Promise<Erasure> {
    const { db, vaultDb, vault, append } = this.#options
    const erasure = await this.#confirmed(id)
    if (erasure.state !== 'CONFIRMED') return erasure
    await detachKeys(vaultDb, id)
    const subjectRefs = await readDetachedKeys(vaultDb, id)
    const cold = await this.#readCold(subjectRefs, erasure.taskIds)
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
    return this.#confirmed(id)
  }

  async #confirmed(id: string): Promise<Erasure> {
    const erasure = await erasures.findErasure(this.#options.db, id)
    if (erasure === undefined) throw new TypeError('only a known erasure is run')
    return erasure
  }

  /** Records the end, then looks at every segment again. Call it once the other stores are erased. */
  async complete(id: string): Promise<ErasureOutcome> {
    const { db, append } = this.#options
    const erasure = await this.run(id)
    const lists = await erased.readErasedLists(db, id)
    const actor = erasure.confirmedBy ?? ''
    crashPoint('erasure.before_completed')
    await append(erasureEntries(erasure, { event: 'ERASURE_COMPLETED', actor }, lists))
    const subjectRefs = lists.map((list) => list.subjectRef)
    return {
      erasure,
      stores: await this.#erasedStores(erasure, subjectRefs),
      verdicts: await judgeErased(this.#options, id),
      records: await erasures.readProofs(db, id),
    }
  }

  async #erasedStores(erasure: Erasure, subjectRefs: readonly string[]): Promise<ErasedStore[]> {
    const { db, vaultDb } = this.#options
    const lists = await erased.readErasedLists(db, erasure.id)
    const listed = lists.reduce((sum, { places }) => sum + places.length, 0)
    const hot = await erased.findSegmentsOf(db, subjectRefs)
    const keys = await readSubjectKeys(vaultDb, subjectRefs.map(uuidBytes))
    const cold = await this.#readCold(subjectRefs, erasure.taskIds)
    const mapped = keys.filter((key) => key.lookup !== null).length
    return [
      store('audit payload segments', listed, hot.length),
      store('subject keys', subjectRefs.length, keys.length),
      store('map from people to keys', subjectRefs.length, mapped),
      noted('audit records', 'hold salted commitments whose salts are erased, and no text'),
      noted(
        'keys in memory',
        'dropped here at once; elsewhere within 60 s, and refused until then',
      ),
      ...cold.stores,
    ]
  }

  /** Keeps the receipt and ends the erasure. */
  async file(id: string, receipt: object): Promise<Erasure> {
    await erasures.completeErasure(this.#options.db, id, receipt)
    return this.#confirmed(id)
  }

  /**
   * Carries on what a crash interrupted, and erases again what a restored backup brought back. Answers what
   * it found to do; nothing in the ordinary case.
   */
  async replay(): Promise<{ resumed: number; keys: number; payloads: number }> {
    const { db, vaultDb, vault } = this.#options
    const open = await erasures.listErasures(db, ['CONFIRMED'])
    for (const { id } of open) await this.run(id)
    const refs = await erasures.readErasedSubjects(db)
    const keys = await destroyKeys(vaultDb, refs.map(uuidBytes))
    if (keys > 0) vault.forget()
    let payloads = 0
    for (const id of await erasures.findUnreflectedErasures(db)) {
      payloads += await erased.erasePayload(db, id)
    }
    return { resumed: open.length, keys, payloads }
  }

  find(id: string): Promise<Erasure | undefined> {
    return erasures.findErasure(this.#options.db, id)
  }

  list(states: readonly erasures.ErasureState[]): Promise<Erasure[]> {
    return erasures.listErasures(this.#options.db, states)
  }

  /** Where a person stands in the log, without text. */
  async search(subject: string): Promise<SubjectRecord[]> {
    const refs = await findKeysOfSubject(this.#options.vaultDb, this.#lookup(subject))
    return erasures.findSubjectRecords(this.#options.db, refs)
  }
}

const store = (name: string, before: number, after = before): ErasedStore => ({
  name,
  before,
  after,
})
const noted = (name: string, note: string): ErasedStore => ({ name, before: 0, after: 0, note })
