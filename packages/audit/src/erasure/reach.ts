// What of a person stands where: in the log, in its cold tier and in the vault, counted before and after an erasure.
import { uuidBytes } from '@baton/ledger'
import { subjectName } from '../append/prepared-entry.ts'
import { readSubjectKeys } from '../append/subject-keys.ts'
import type { Lookup } from '../append/subject-keys.ts'
import type { SubjectVault } from '../append/subject-vault.ts'
import { readErasedObjects } from '../cold/erased-objects.ts'
import type { ColdSegments } from '../cold/erased-objects.ts'
import type { Database } from '../database.ts'
import { findSegmentsOf } from './erased-segments.ts'
import type { ErasedList } from './erased-segments.ts'
import type { ColdReading } from './erased-verdicts.ts'
import { findSubjectRecords } from './erasures.ts'
import type { Erasure } from './erasures.ts'

interface ReachOptions {
  /** Connected as audit_eraser. */
  readonly db: Database
  /** Connected as vault_keeper. */
  readonly vaultDb: Database
  readonly vault: SubjectVault
  readonly environment: string
  /** Undefined where there is no cold tier. */
  readonly cold: ColdReading | undefined
}

/** One place where data of the person stood: how many items before and after, and why where there are none. */
export interface ErasedStore {
  readonly name: string
  readonly before: number
  readonly after: number
  readonly note?: string
}

/** A person by name, which is one tenant's own; of the default one where none is said. */
export interface Person {
  readonly subject: string
  readonly tenant?: string | undefined
}

export interface Reach {
  /** Under each key of the lookup ring. */
  lookupsOf(person: Person): readonly Lookup[]
  /** What the cold tier holds of subjects, in the records of these tasks. */
  readCold(refs: readonly string[], taskIds: readonly string[]): Promise<ColdSegments>
  /** The known tasks, and those in whose records the subjects have segments. */
  tasksOf(refs: readonly string[], known: readonly string[]): Promise<string[]>
  countStores(refs: readonly string[], taskIds: readonly string[]): Promise<ErasedStore[]>
  countErased(erasure: Erasure, lists: readonly ErasedList[]): Promise<ErasedStore[]>
}

const NO_COLD: ColdSegments = { segments: [], stores: [] }

export function reachOf({ db, vaultDb, vault, environment, cold }: ReachOptions): Reach {
  const readCold: Reach['readCold'] = async (refs, taskIds) =>
    cold === undefined ? NO_COLD : readErasedObjects({ ...cold, vault }, refs, taskIds)
  return {
    lookupsOf: ({ subject, tenant }) =>
      vault.lookupsOf(subjectName({ environment, tenant }, subject)),
    readCold,
    async tasksOf(refs, known) {
      const records = await findSubjectRecords(db, refs)
      return [...new Set([...known, ...records.map((record) => record.taskId)])].toSorted()
    },
    async countStores(refs, taskIds) {
      const keys = await readSubjectKeys(vaultDb, refs.map(uuidBytes))
      const hot = await findSegmentsOf(db, refs)
      const { stores } = await readCold(refs, taskIds)
      return [
        store('audit payload segments', hot.length),
        store('subject keys', keys.length),
        ...stores,
      ]
    },
    async countErased({ taskIds }, lists) {
      const refs = lists.map(({ subjectRef }) => subjectRef)
      const listed = lists.reduce((sum, { places }) => sum + places.length, 0)
      const hot = await findSegmentsOf(db, refs)
      const keys = await readSubjectKeys(vaultDb, refs.map(uuidBytes))
      const { stores } = await readCold(refs, taskIds)
      const mapped = keys.filter((key) => key.lookup !== null).length
      return [
        store('audit payload segments', listed, hot.length),
        store('subject keys', refs.length, keys.length),
        store('map from people to keys', refs.length, mapped),
        noted('audit records', 'hold salted commitments whose salts are erased, and no text'),
        noted(
          'keys in memory',
          'dropped here at once; elsewhere within 60 s, and refused until then',
        ),
        ...stores,
      ]
    },
  }
}

const store = (name: string, before: number, after = before): ErasedStore => ({
  name,
  before,
  after,
})
const noted = (name: string, note: string): ErasedStore => ({ name, before: 0, after: 0, note })
