// What a restored instance needs before it may take traffic: erasures done since are done again, and what is missing is said.
import {
  createPool as createAuditPool,
  findForgottenErasures,
  readSealerKnowledge,
  repeatErasure,
} from '@baton/audit'
import type { JournalledErasure } from '@baton/audit'
import { RESTORED_SETTING } from '@baton/postgres'
import { permanent } from '@baton/runtime'
import { createPool, eraseHandoffs, findUnreflected, inTransaction } from '@baton/store'
import type { Servers } from '../instance/databases.ts'
import type { BackupManifest } from './backup-folder.ts'
import type { ErasureJournal } from './erasure-journal.ts'
import { readLogPosition } from './take-backup.ts'

export interface RepeatedErasures {
  /** That the journal knows. */
  readonly known: number
  /** Of those, what the restored databases did not know. */
  readonly repeated: number
  readonly keys: number
  readonly handoffs: number
}

const AT_ONCE = 200

/** Does again what the restored databases do not know; the auditor and the gateway record and complete it when they start. Safe to repeat. */
export async function repeatErasures(
  { operationalUrl, auditUrl, vaultUrl }: Servers,
  { erasures }: ErasureJournal,
): Promise<RepeatedErasures> {
  const applicationName = 'baton-restore'
  const log = createAuditPool({ url: auditUrl, applicationName, connectionsMax: 1 })
  const vault = createAuditPool({ url: vaultUrl, applicationName, connectionsMax: 1 })
  const store = createPool({ url: operationalUrl, applicationName, connectionsMax: 1 })
  try {
    const forgotten = await findForgottenErasures(log, erasures)
    let keys = 0
    for (const erasure of forgotten) keys += await repeatErasure({ log, vault }, erasure)
    // Those that the log knows too: `baton` may be the older one.
    let handoffs = 0
    for (const ids of inParts(erasures)) {
      const stored = await findUnreflected(store, ids)
      await inTransaction(store, (transaction) => eraseHandoffs(transaction, stored))
      handoffs += stored.length
    }
    return { known: erasures.length, repeated: forgotten.length, keys, handoffs }
  } finally {
    await Promise.all([log.end(), vault.end(), store.end()])
  }
}

function inParts(erasures: readonly JournalledErasure[]): readonly (readonly string[])[] {
  const ids = [...new Set(erasures.flatMap(({ handoffIds }) => handoffIds))]
  const parts: string[][] = []
  for (let from = 0; from < ids.length; from += AT_ONCE) parts.push(ids.slice(from, from + AT_ONCE))
  return parts
}

const RESET = [
  RESTORED_SETTING,
  'restore_command',
  'hot_standby',
  'recovery_target',
  'recovery_target_time',
  'recovery_target_timeline',
  'recovery_target_action',
  'primary_conninfo',
  'primary_slot_name',
  'synchronous_standby_names',
]

/** From now on services start. Throws BATON_RESTORE_STANDBY while the server is still on its way. */
export async function admitServices(url: string): Promise<void> {
  const pool = createAuditPool({ url, applicationName: 'baton-restore', connectionsMax: 1 })
  try {
    const { rows } = await pool.query<{ recovering: boolean }>({
      text: 'select pg_is_in_recovery() as recovering',
    })
    if (rows[0]?.recovering === true) throw stillRecovering()
    for (const name of RESET) await pool.query({ text: `alter system reset ${name}` })
    await pool.query({ text: 'select pg_reload_conf()' })
  } finally {
    await pool.end()
  }
}

/**
 * When the newest transaction was committed that each server went through when it was put back, of several the earliest; null where
 * there was none, or a server was started again since.
 */
export async function findNewestCommit({
  operationalUrl,
  auditUrl,
}: Servers): Promise<Date | null> {
  const times = await Promise.all([operationalUrl, auditUrl].map(newestCommitOn))
  const known = times.filter((at) => at !== null)
  return known.length < times.length ? null : new Date(Math.min(...known.map(Number)))
}

async function newestCommitOn(url: string): Promise<Date | null> {
  const pool = createAuditPool({ url, applicationName: 'baton-restore', connectionsMax: 1 })
  try {
    const { rows } = await pool.query<{ at: Date | null }>({
      text: 'select pg_last_xact_replay_timestamp() as at',
    })
    return rows[0]?.at ?? null
  } finally {
    await pool.end()
  }
}

/** What may be missing since the backup, and who says so. */
export interface Found {
  readonly records: number
  readonly seals: number
  readonly gaps: readonly LogGap[]
  /** How many records and seals the databases lack of what is known. */
  readonly missing: number
  /** Of the sealer’s own state, where that is still there. */
  readonly sealer: { readonly seals: number; readonly at: string } | undefined
}

export interface LogGap {
  readonly origin: string
  readonly records: number
  /** How many somebody outside knows of. */
  readonly known: number
  readonly by: string
}

/** What the backup, and the sealer where its state is still there, know of the log and the restored databases do not have. */
export async function findGaps(
  auditUrl: string,
  manifest: BackupManifest,
  sealerState: string | undefined,
): Promise<Found> {
  const now = await readLogPosition(auditUrl)
  const sealer = sealerState === undefined ? undefined : await readSealerKnowledge(sealerState)
  const gaps = now.chains.flatMap(({ origin, records }): LogGap[] => {
    const listed = manifest.log.chains.find((chain) => chain.origin === origin)?.records ?? 0
    const sealed = sealer?.newest.entry.chains.find((chain) => chain.origin === origin)?.size ?? 0
    if (records >= Math.max(listed, sealed)) return []
    return sealed >= listed
      ? [{ origin, records, known: sealed, by: 'the sealer' }]
      : [{ origin, records, known: listed, by: 'the backup' }]
  })
  const seals = sealer && { seals: sealer.tree.size, at: sealer.newest.entry.at }
  const records = gaps.reduce((sum, { known, records: there }) => sum + known - there, 0)
  return {
    records: now.chains.reduce((sum, chain) => sum + chain.records, 0),
    seals: now.seals,
    gaps,
    missing: records + Math.max(0, (seals?.seals ?? 0) - now.seals),
    sealer: seals,
  }
}

const stillRecovering = () =>
  permanent('BATON_RESTORE_STANDBY', 'the server is still going through its write-ahead log', {
    fix: 'Run the command again when it is through; its log says how far it has come.',
  })
