// Which backup it is, by the log: its record BACKUP_TAKEN names the digest of the manifest, which names those of the files.
import { createPool as createAuditPool, readTrace } from '@baton/audit'
import type { ColdStore } from '@baton/audit'
import { DEFAULT_TENANT, taskOfOperations } from '@baton/ledger'
import type { AuditEntry, RecordBody } from '@baton/ledger'
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
    const records: RecordBody[] = []
    for (const taskId of tasksOf(id)) {
      const trace = await readTrace(log, taskId, { cold })
      records.push(...trace.records.map(({ body }) => body))
    }
    // Whoever owns the databases may have another one recorded later; the first is of who took it, in whichever chain it stands.
    const [recorded] = records
      .toSorted((a, b) => (a.recordedAt < b.recordedAt ? -1 : 1))
      .flatMap((body) => digestsIn(body, id))
    if (recorded !== undefined) {
      if (recorded !== sha256) throw other(id, { recorded, sha256 })
      return true
    }
    const texts = await findWaitingOperations(store, { event: EVENT, subject: id })
    const waiting = digestsInTexts(texts, id)
    // What waits has no order that counts: whoever delivers writes there, under any time.
    if (waiting.includes(sha256)) return true
    if (waiting[0] !== undefined) throw other(id, { recorded: waiting[0], sha256 })
    return false
  } finally {
    await Promise.all([log.end(), store.end()])
  }
}

/** The digests that texts name which wait to be recorded; none need be an entry. */
export const digestsInTexts = (texts: readonly string[], id: string): readonly string[] =>
  texts.flatMap((text) => {
    try {
      return digestsIn(JSON.parse(text) as Named, id)
    } catch {
      return []
    }
  })

type Named = Pick<AuditEntry, 'event' | 'operation'>

const digestsIn = ({ event, operation }: Named, id: string): readonly string[] =>
  event === EVENT && operation?.subject === id
    ? (operation.details ?? []).flatMap(({ code, sha256 }) =>
        code === 'MANIFEST' && typeof sha256 === 'string' ? [sha256] : [],
      )
    : []

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
