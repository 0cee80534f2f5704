// Which backup it is, by the log: its record BACKUP_TAKEN names the digest of the manifest, which names those of the files.
import { createPool as createAuditPool, readTrace } from '@baton/audit'
import type { ColdStore } from '@baton/audit'
import { DEFAULT_TENANT, taskOfOperations } from '@baton/ledger'
import type { AuditEntry } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import { createPool, findWaitingOperations } from '@baton/store'
import type { Servers } from '../instance/databases.ts'
import type { StoredBackup } from './backup-folder.ts'

const EVENT = 'BACKUP_TAKEN'
const DAY_MS = 86_400_000
/** Operations stand under their day. A backup is recorded when it is whole, at most so many after it began. */
const DAYS = 3

/**
 * Answers whether the log, or what waits to be recorded there, names this very manifest; false where it knows no backup of that id.
 * Throws BATON_BACKUP_DAMAGED where it names another one.
 */
export async function isRecorded(
  { operationalUrl, auditUrl }: Pick<Servers, 'operationalUrl' | 'auditUrl'>,
  { manifest: { id }, sha256 }: StoredBackup,
  cold: ColdStore | undefined,
): Promise<boolean> {
  const applicationName = 'baton-backup'
  const log = createAuditPool({ url: auditUrl, applicationName, connectionsMax: 1 })
  const store = createPool({ url: operationalUrl, applicationName, connectionsMax: 1 })
  try {
    const entries: Pick<AuditEntry, 'event' | 'operation'>[] = []
    for (const taskId of tasksOf(id)) {
      const { records } = await readTrace(log, taskId, { cold })
      entries.push(...records.map(({ body }) => body))
    }
    const waiting = await findWaitingOperations(store, { event: EVENT, subject: id })
    entries.push(...waiting.map((entry) => JSON.parse(entry) as AuditEntry))
    const digests = entries.flatMap(({ event, operation }) =>
      event === EVENT && operation?.subject === id
        ? (operation.details ?? []).flatMap(({ code, sha256: of }) =>
            code === 'MANIFEST' ? [of] : [],
          )
        : [],
    )
    // Whoever owns the databases may have another one recorded later; the first is of who took it.
    const [recorded] = digests
    if (recorded !== undefined && recorded !== sha256) throw other(id, { recorded, sha256 })
    return recorded !== undefined
  } finally {
    await Promise.all([log.end(), store.end()])
  }
}

/** Of its day and the next ones. */
function tasksOf(id: string): readonly string[] {
  const day = Date.parse(`${id.slice(0, 4)}-${id.slice(4, 6)}-${id.slice(6, 8)}T00:00:00Z`)
  return Array.from({ length: DAYS }, (_, later) =>
    taskOfOperations(DEFAULT_TENANT, new Date(day + later * DAY_MS).toISOString()),
  )
}

/** Where nobody can ask the log, or before anything is unpacked. Throws BATON_BACKUP_DAMAGED. */
export function requireManifest(
  { manifest: { id }, sha256 }: StoredBackup,
  wanted: string | undefined,
): void {
  if (wanted !== undefined && wanted !== sha256) throw other(id, { recorded: wanted, sha256 })
}

const other = (
  id: string,
  { recorded, sha256 }: { readonly recorded: string | null; readonly sha256: string },
) =>
  permanent(
    'BATON_BACKUP_DAMAGED',
    `backup ${id} is not the one that was taken: the SHA-256 of its manifest was ${recorded ?? 'none'}, and is ${sha256}`,
    {
      fix: 'Somebody changed it. Take another backup of before (`baton backup ls`), and find out who may write to its folder.',
    },
  )
