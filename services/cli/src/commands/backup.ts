// `backup`: takes a backup of everything that cannot be made again, lists, checks and deletes them.
import { backupRoot, findBackup, listBackups } from '../backup/backup-folder.ts'
import type { StoredBackup } from '../backup/backup-folder.ts'
import { createPusher, isBucket, withFetched } from '../backup/bucket.ts'
import { withBackupLock } from '../backup/backup-lock.ts'
import { checkBackup } from '../backup/check-backup.ts'
import { keepSecrets } from '../backup/keep-secrets.ts'
import { pruneBackups } from '../backup/prune-backups.ts'
import { takeBackup } from '../backup/take-backup.ts'
import { recordBackup } from '@baton/engine'
import { createPool } from '@baton/store'
import type { Context } from '../context.ts'
import { administratorOf, withServers } from '../instance/databases.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { bytesText, count, counted, elapsed, instant } from '../terminal/figures.ts'
import { nextStep, quoted } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { pageOfAll, sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'

interface BackupOptions {
  readonly to: string | undefined
  readonly secretsTo: string | undefined
}

export async function backup(
  context: Context,
  { to, secretsTo }: BackupOptions,
): Promise<ExitCode> {
  const { output } = context
  const bucket = isBucket(to) ? to : undefined
  const root = backupRoot(context, bucket === undefined ? to : undefined)
  // What cannot be reached is said before the work is done.
  const push = bucket === undefined ? undefined : await createPusher(context, root, bucket)
  if (secretsTo !== undefined) {
    const kept = await keepSecrets(context, { to: secretsTo, root })
    output.step('passed', 'secrets', kept)
  }
  const taken = await takeRecorded(context, root)
  const pushed = await push?.()
  output.endProgress()
  if (output.json) output.data(JSON.stringify(summaryOf(taken)))
  const { manifest, folder, sha256 } = taken
  for (const name of manifest.missing)
    output.check('unknown', name, 'not on this machine: back it up where it is')
  output.check(
    'passed',
    'backup',
    `${folder}, ${bytesText(bytesOf(taken))} in ${elapsed(manifest.ms)}`,
  )
  if (pushed !== undefined)
    output.check(
      'passed',
      'bucket',
      `${bucket}: ${counted(pushed.objects, 'object')}, ${bytesText(pushed.bytes)} sent`,
    )
  output.check('passed', 'manifest', `SHA-256 ${sha256}`)
  if (secretsTo === undefined)
    output.words(
      '\n  The secrets are not in it, and without them it cannot be read: --secrets-to keeps them apart.',
    )
  output.next(nextStep(`backup verify --to ${quoted(bucket ?? root)}`))
  return EXIT.fine
}

export async function takeRecorded(context: Context, root: string): Promise<StoredBackup> {
  const taken = await withBackupLock(context, root, () => takeBackup(context, root))
  await recordTaken(context, taken)
  return taken
}

/** From then on the log proves which backup it is. */
const recordTaken = (context: Context, { manifest: { id }, sha256 }: StoredBackup): Promise<void> =>
  withServers(context, async ({ operationalUrl }) => {
    const admin = createPool({ url: operationalUrl, applicationName: 'baton-backup' })
    try {
      await recordBackup(admin, administratorOf(context), { id, sha256 })
    } finally {
      await admin.end()
    }
  })

const bytesOf = ({ manifest }: StoredBackup): number =>
  manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)

const recordsOf = ({ manifest }: StoredBackup): number =>
  manifest.log.chains.reduce((sum, { records }) => sum + records, 0)

function summaryOf(stored: StoredBackup) {
  const { id, takenAt, ms, software, servers, missing, cold, erasures } = stored.manifest
  return {
    id,
    folder: stored.folder,
    sha256: stored.sha256,
    takenAt,
    ms,
    software,
    bytes: bytesOf(stored),
    records: recordsOf(stored),
    seals: stored.manifest.log.seals,
    servers: servers.map(({ name, databases, endLsn, version }) => ({
      name,
      databases,
      endLsn,
      version,
    })),
    coldObjects: cold?.objects ?? null,
    erasures,
    missing,
  }
}

interface ListOptions {
  readonly to: string | undefined
  readonly flags: PageFlags
}

export function listTaken(context: Context, options: ListOptions): Promise<ExitCode> {
  const { to } = options
  return isBucket(to)
    ? withFetched(context, { from: to, which: undefined, manifests: true }, (root) =>
        listIn(context, { ...options, root }),
      )
    : listIn(context, { ...options, root: backupRoot(context, to) })
}

async function listIn(
  { output }: Context,
  { to, flags, root }: ListOptions & { readonly root: string },
): Promise<ExitCode> {
  const all = await listBackups(root)
  const listed = pageOfAll(all, { keyOf: ({ manifest }) => manifest.id, flags })
  if (output.json) output.data(JSON.stringify(listed.rows.map(summaryOf)))
  else if (listed.rows.length > 0)
    output.data(
      renderTable(
        COLUMNS,
        listed.rows.map((stored) => [
          stored.manifest.id,
          instant(stored.manifest.takenAt),
          bytesText(bytesOf(stored)),
          count(recordsOf(stored)),
          stored.manifest.servers.map(({ version }) => version).join(', '),
          stored.manifest.cold === null ? '–' : count(stored.manifest.cold.objects),
        ]),
      ),
    )
  if (all.length === 0) output.words(`There is no backup in ${to ?? root}.`)
  sayShown(output, listed, `backup ls${typedAgain({ to, limit: flags.limit })}`)
  return EXIT.fine
}

const COLUMNS = ['id', 'taken at (UTC)', 'size', 'records', 'Postgres', 'cold objects'].map(
  (title) => ({ title }),
)

interface CheckOptions {
  readonly to: string | undefined
  readonly which: string | undefined
}

/** Exit code 3 where a file or an object is missing or was changed. */
export async function verifyBackup(
  context: Context,
  { to, which }: CheckOptions,
): Promise<ExitCode> {
  if (isBucket(to))
    return withFetched(context, { from: to, which }, (root) =>
      verifyIn(context, { root, which, place: to }),
    )
  const root = backupRoot(context, to)
  return verifyIn(context, { root, which, place: root })
}

interface Checked {
  readonly root: string
  readonly which: string | undefined
  /** Where whoever types the next command finds it. */
  readonly place: string
}

async function verifyIn(context: Context, { root, which, place }: Checked): Promise<ExitCode> {
  const { output } = context
  const stored = await findBackup(root, which)
  const check = await checkBackup(root, stored, (bytes) => output.progress(bytesText(bytes)))
  output.endProgress()
  const { id } = stored.manifest
  if (output.json) output.data(JSON.stringify({ id, sha256: stored.sha256, ...check }))
  for (const fault of check.faults.slice(0, FAULTS_SHOWN_MAX))
    output.check('failed', 'fault', fault)
  const read = `${counted(check.files, 'file')} and ${counted(check.objects, 'object')} of the cold store, ${bytesText(check.bytes)}`
  const isWell = check.faults.length === 0
  output.check(
    isWell ? 'passed' : 'failed',
    'backup',
    `${id}: ${read}, ${isWell ? 'all as listed' : counted(check.faults.length, 'fault')}`,
  )
  output.check('passed', 'manifest', `SHA-256 ${stored.sha256}`)
  // For trial: what was verified need not be wanted.
  output.next(
    nextStep(
      isWell ? `restore drill ${id} --from ${quoted(place)}` : `backup --to ${quoted(place)}`,
    ),
  )
  return isWell ? EXIT.fine : EXIT.verificationFailed
}

const FAULTS_SHOWN_MAX = 20

export async function prune(
  context: Context,
  { to, keep }: { readonly to: string | undefined; readonly keep: number },
): Promise<ExitCode> {
  const { output } = context
  const root = backupRoot(context, to)
  const pruned = await withBackupLock(context, root, () => pruneBackups(root, keep))
  if (output.json) output.data(JSON.stringify(pruned))
  output.check('passed', 'deleted', pruned.deleted.join(', ') || 'none')
  output.check('passed', 'kept', pruned.kept.join(', ') || 'none')
  const shared = `${counted(pruned.walFiles, 'file')} of write-ahead log, ${counted(pruned.objects, 'object')} of the cold store`
  output.check('passed', 'shared', `${shared} that no kept backup needs`)
  return EXIT.fine
}
