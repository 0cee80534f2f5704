// Who may call, which tenants there are and what they reach: only who owns the operational database changes it, and each change
// commits with its record.
import { fact, facts } from '@baton/ledger'
import {
  addApiKey,
  addRecordedMigrations,
  addTenant,
  findApiKeys,
  grantAgent,
  inTransaction,
  listTenants,
  revokeAgent,
  revokeApiKey,
} from '@baton/store'
import type { AgentGrant, Database, NewApiKey, Pool } from '@baton/store'
import { recordOperation } from './record-operation.ts'
import type { DoneOperation } from './record-operation.ts'

/** By whose word, as a command was told or as the machine calls who ran it. */
export interface Administrator {
  readonly actor: string
}

const BY_OWNER = { by: 'cli', right: 'database-owner' } as const

const recordAct = (
  db: Database,
  { actor }: Administrator,
  done: Omit<DoneOperation, 'actor' | 'by' | 'right'>,
): Promise<void> => recordOperation(db, { ...BY_OWNER, actor, ...done })

/** Answers false where there is no such tenant. */
export const makeApiKey = (admin: Pool, who: Administrator, key: NewApiKey): Promise<boolean> =>
  inTransaction(admin, async (db) => {
    if (!(await addApiKey(db, key))) return false
    const { id, tenant, operator, scopes, agents, expiresAt } = key
    await recordAct(db, who, {
      event: 'API_KEY_MADE',
      tenant,
      subject: id,
      details: [
        fact('OPERATOR', operator),
        ...facts('SCOPE', scopes),
        ...facts('AGENT', agents ?? []),
        ...facts('EXPIRES', expiresAt === null ? [] : [expiresAt.toISOString()]),
      ],
    })
    return true
  })

/** Since when it is revoked: from the first time on, which alone is recorded. Undefined where there is no such key. */
export const withdrawApiKey = (
  admin: Pool,
  who: Administrator,
  id: string,
): Promise<Date | undefined> =>
  inTransaction(admin, async (db) => {
    const [key] = await findApiKeys(db, [id])
    if (key === undefined || key.revokedAt !== null) return key?.revokedAt ?? undefined
    const { tenant, operator } = key
    const details = [fact('OPERATOR', operator)]
    await recordAct(db, who, { event: 'API_KEY_REVOKED', tenant, subject: id, details })
    return revokeApiKey(db, id)
  })

/** Answers whether it is new. */
export const openTenant = (admin: Pool, who: Administrator, tenant: string): Promise<boolean> =>
  inTransaction(admin, async (db) => {
    const isNew = await addTenant(db, tenant)
    if (isNew) await recordAct(db, who, { event: 'TENANT_ADDED', tenant, subject: tenant })
    return isNew
  })

type Grant = Omit<AgentGrant, 'grantedBy'>

/** Answers whether it is new; undefined where there is no such tenant. */
export const makeGrant = (
  admin: Pool,
  who: Administrator,
  grant: Grant,
): Promise<boolean | undefined> =>
  inTransaction(admin, async (db) => {
    const { tenant, agentType: subject } = grant
    if (!(await listTenants(db)).some((one) => one.tenant === tenant)) return undefined
    const isNew = await grantAgent(db, { ...grant, grantedBy: who.actor })
    if (isNew) await recordAct(db, who, { event: 'GRANT_MADE', tenant, subject })
    return isNew
  })

/** What was sent under the grant goes on. Answers whether there was one. */
export const withdrawGrant = (admin: Pool, who: Administrator, grant: Grant): Promise<boolean> =>
  inTransaction(admin, async (db) => {
    const { tenant, agentType: subject } = grant
    const was = await revokeAgent(db, grant)
    if (was) await recordAct(db, who, { event: 'GRANT_REVOKED', tenant, subject })
    return was
  })

interface Migration {
  readonly name: string
  /** Lower-case hex, of its text. */
  readonly sha256: string
}

/** So many stand in one record. */
const MIGRATIONS_MAX = 48

/**
 * Records those that are not on record yet. What was applied by a run that ended before it could say so is told by the next one.
 */
export const recordMigrations = (
  admin: Pool,
  who: Administrator,
  migrations: readonly Migration[],
): Promise<void> =>
  inTransaction(admin, async (db) => {
    const names = migrations.map(({ name }) => name)
    const untold = await addRecordedMigrations(db, names)
    const told = migrations.filter(({ name }) => untold.has(name))
    for (let from = 0; from < told.length; from += MIGRATIONS_MAX)
      await recordAct(db, who, {
        event: 'MIGRATIONS_APPLIED',
        subject: 'databases',
        details: told
          .slice(from, from + MIGRATIONS_MAX)
          .map(({ name: value, sha256 }) => ({ code: 'MIGRATION', value, sha256 })),
      })
  })

const given = (value: string | number | undefined): readonly string[] =>
  value === undefined ? [] : [String(value)]

interface BackupAct {
  readonly id: string
  /** Of its manifest, lower-case hex. */
  readonly sha256: string
}

const ofBackup = ({ sha256 }: BackupAct) => ({ code: 'MANIFEST', value: null, sha256 })

/** From then on the log proves which backup it is. */
export const recordBackup = (admin: Pool, who: Administrator, backup: BackupAct): Promise<void> =>
  inTransaction(admin, (db) =>
    recordAct(db, who, {
      event: 'BACKUP_TAKEN',
      subject: backup.id,
      details: [ofBackup(backup)],
    }),
  )

interface RestoreAct extends BackupAct {
  /** Records and seals that somebody outside knows, and that are gone. */
  readonly missing: number
  readonly erasuresRepeated: number
  /** Why services may start although nobody knows whom was erased since. */
  readonly waived: string | undefined
}

/** Stands in the restored database: whoever reads the log later learns of it there. */
export const recordRestore = (admin: Pool, who: Administrator, act: RestoreAct): Promise<void> =>
  inTransaction(admin, (db) =>
    recordAct(db, who, {
      event: 'RESTORED',
      subject: act.id,
      details: [
        ofBackup(act),
        fact('MISSING', String(act.missing)),
        fact('ERASURES_REPEATED', String(act.erasuresRepeated)),
        ...facts('WAIVED', given(act.waived)),
      ],
    }),
  )

interface RestoreDrill extends BackupAct {
  readonly passed: boolean
  readonly records: number
  /** Why it could not be restored. */
  readonly failure?: string
  /** From the first byte until it was verified. */
  readonly rtoSeconds?: number
  /** How old the newest of what was in it was. */
  readonly rpoSeconds?: number
}

/** That a backup was restored beside the instance, and what came of it. */
export const recordRestoreDrill = (
  admin: Pool,
  who: Administrator,
  drill: RestoreDrill,
): Promise<void> =>
  inTransaction(admin, (db) =>
    recordAct(db, who, {
      event: 'RESTORE_DRILLED',
      subject: drill.id,
      details: [
        ofBackup(drill),
        fact('RESULT', drill.passed ? 'PASSED' : 'FAILED'),
        fact('RECORDS', String(drill.records)),
        ...facts('FAILURE', given(drill.failure)),
        ...facts('RTO_SECONDS', given(drill.rtoSeconds)),
        ...facts('RPO_SECONDS', given(drill.rpoSeconds)),
      ],
    }),
  )
