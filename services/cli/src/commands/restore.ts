// `restore`: puts a backup back with everything that was kept since, has erasures done again, and says exactly what is missing.
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { replacePostgresData } from '@baton/embedded'
import { recordRestore } from '@baton/engine'
import { permanent } from '@baton/runtime'
import { createPool } from '@baton/store'
import {
  backupRoot,
  findBackup,
  listFile,
  requireListed,
  sharedPlaces,
} from '../backup/backup-folder.ts'
import type { StoredBackup } from '../backup/backup-folder.ts'
import { isBucket, withFetched } from '../backup/bucket.ts'
import { sealPlaces } from '../backup/copy-seals.ts'
import { mergeJournals, readJournal } from '../backup/erasure-journal.ts'
import type { ErasureJournal } from '../backup/erasure-journal.ts'
import {
  admitServices,
  findGaps,
  findNewestCommit,
  repeatErasures,
} from '../backup/finish-restore.ts'
import type { Found, LogGap, RepeatedErasures } from '../backup/finish-restore.ts'
import { reached } from '../backup/followed.ts'
import { putBackSecrets } from '../backup/keep-secrets.ts'
import { isRecorded, requireManifest } from '../backup/recorded-digest.ts'
import { prepareData } from '../backup/prepare-data.ts'
import type { Until } from '../backup/prepare-data.ts'
import { putBackCold, putBackSeals } from '../backup/restore-parts.ts'
import { ERASURES } from '../backup/take-backup.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { administratorOf, coldOf, withServers } from '../instance/databases.ts'
import type { Servers } from '../instance/databases.ts'
import { withInstanceLock } from '../instance/instance.ts'
import { untilRestored } from '../instance/unfinished-restore.ts'
import { counted, elapsed } from '../terminal/figures.ts'
import { nextStep, quoted } from '../terminal/next-steps.ts'
import { erase } from './erase.ts'
import { recoverSeals } from './recover-seals.ts'
import { verify } from './verify.ts'

interface RestoreOptions {
  readonly which: string | undefined
  readonly from?: string | undefined
  readonly until?: Until | undefined
  readonly secrets?: string | undefined
  readonly keepDatabases?: boolean | undefined
  readonly dataDirectory?: string | undefined
  readonly server: 'operational' | 'audit'
  readonly finish?: boolean | undefined
  readonly erasures?: string | undefined
  readonly withoutErasures?: string | undefined
  /** The digest that its manifest must have. */
  readonly manifest?: string | undefined
}

/**
 * Exit code 3 where the log is not what was sealed, 4 where services may not start yet or something cannot be said. What is there and
 * is replaced is kept.
 */
export async function restore(context: Context, options: RestoreOptions): Promise<ExitCode> {
  const { from, which, dataDirectory, finish = false, keepDatabases = false } = options
  const isOwn = context.settings.BATON_DATABASE_ADMIN_URL === undefined
  if (isBucket(from)) {
    const fetched = () =>
      withFetched(context, { from, which }, (root) => restore(context, { ...options, from: root }))
    const isReplaced = isOwn && !finish && dataDirectory === undefined && !keepDatabases
    return isReplaced ? untilRestored(context, fetched) : fetched()
  }
  const root = backupRoot(context, from)
  if (finish || dataDirectory !== undefined) {
    const chosen = { ...options, root, stored: await choose(root, options) }
    if (dataDirectory !== undefined && !finish)
      return fillDataDirectory(context, { ...chosen, dataDirectory })
    return finishRestore(context, { ...chosen, began: performance.now() })
  }
  if (!isOwn && !keepDatabases) throw onItsMachine()
  const replace = async () => {
    const stored = await choose(root, options)
    return restoreInstance(context, { ...options, root, stored, began: performance.now() })
  }
  const putBack = keepDatabases ? await replace() : await untilRestored(context, replace)
  return finishRestore(context, putBack)
}

async function choose(root: string, { which, manifest }: RestoreOptions): Promise<StoredBackup> {
  const stored = await findBackup(root, which)
  requireManifest(stored, manifest)
  return stored
}

interface Chosen extends RestoreOptions {
  readonly root: string
  readonly stored: StoredBackup
}
interface Timed extends Chosen {
  readonly began: number
  /** Of the sealer's watchers, who is back as the backup has them: they know less than they did. */
  readonly putBack?: readonly string[]
}

async function restoreInstance(context: Context, options: Timed): Promise<Timed> {
  const { home, output } = context
  const { root, stored, secrets, keepDatabases = false } = options
  if (!keepDatabases && stored.manifest.servers.length > 1) throw ofTwoServers()
  if (keepDatabases)
    await withServers(context, (servers) => requireRecorded(context, servers, stored))
  await mkdir(home, { recursive: true, mode: 0o700 })
  const putBack = await withInstanceLock(context, async (running) => {
    if (running !== null) throw busy(running.owner.pid)
    if (secrets !== undefined) {
      const written = await putBackSecrets(context, secrets)
      output.step('passed', 'secrets', `${counted(written.length, 'file')} put back`)
    }
    if (!keepDatabases) await replaceDatabases(context, options)
    const seals = await putBackSeals(context, stored)
    if (seals.put.length > 0) output.step('passed', 'put back', seals.put.join(', '))
    for (const name of seals.absent) output.step('failed', name, 'gone, and in no backup')
    const cold = await putBackCold(context, root, (done) =>
      output.progress(`cold store: ${counted(done, 'object')}`),
    )
    output.endProgress()
    if (cold.put > 0) output.step('passed', 'cold store', `${counted(cold.put, 'object')} put back`)
    return seals.put
  })
  return { ...options, putBack }
}

async function replaceDatabases(
  { home, output, interrupt }: Context,
  { root, stored, until = 'end' }: Timed,
): Promise<void> {
  const { manifest } = stored
  const [server] = manifest.servers
  if (server === undefined) throw ofTwoServers()
  if (!existsSync(join(home, 'secrets', 'development.json'))) throw secretsGone(home)
  let walFiles = 0
  const { kept } = await replacePostgresData({
    dataDir: join(home, 'pg'),
    keepAs: `data.before-restore-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`,
    async fill(target) {
      const prepared = await prepareData(target, {
        root,
        stored,
        server,
        until,
        signal: interrupt,
        onProgress: output.progress,
      })
      walFiles = prepared.walFiles
      output.endProgress()
    },
  })
  output.step(
    'passed',
    'unpacked',
    `backup ${manifest.id}, and ${counted(walFiles, 'file')} of write-ahead log kept since`,
  )
  if (kept !== null) output.step('passed', 'kept', `what was there is in ${kept}`)
  output.words('  Postgres goes through its write-ahead log; that takes as long as it is.')
}

interface Report {
  readonly backup: string
  readonly until: string
  /** Everything that was committed before is there. Of what was acknowledged later, nobody can say that it is. */
  readonly coveredUntil: string
  readonly ms: number
  readonly records: number
  readonly seals: number
  readonly gaps: readonly LogGap[]
  readonly erasures: RepeatedErasures & { readonly completeUntil: string | null }
  readonly admitted: boolean
  /** Whether the restored log names this very backup. It cannot where it ends before that was recorded. */
  readonly vouched: boolean
  readonly verified: ExitCode
}

/** Throws BATON_BACKUP_DAMAGED where the log names another manifest under this id. */
async function requireRecorded(
  context: Context,
  servers: Servers,
  stored: StoredBackup,
): Promise<boolean> {
  const isKnown = await isRecorded(servers, stored, coldOf(context))
  const { sha256 } = stored
  context.output.step(
    isKnown ? 'passed' : 'unknown',
    'manifest',
    isKnown
      ? `SHA-256 ${sha256}, as the log recorded it`
      : `SHA-256 ${sha256}: the log that was restored ends before this backup was recorded, so nobody vouches for it; compare it with what \`backup\` printed`,
  )
  return isKnown
}

/** From here on it is the same on servers of one's own. */
async function finishRestore(context: Context, options: Timed): Promise<ExitCode> {
  const { output } = context
  const { root, stored, began, until = 'end', keepDatabases = false, putBack = [] } = options
  const { manifest, folder } = stored
  requireListed(await listFile(folder, ERASURES), manifest)
  const journal = await journalOf(options, [sharedPlaces(root).erasures, join(folder, ERASURES)])
  const state = sealPlaces(context)['sealer state']
  const done = await withServers(context, async (servers) => {
    // First: what somebody changed is not even erased in, and no service starts on it.
    const vouched = await requireRecorded(context, servers, stored)
    // Databases that were not put back know every erasure themselves, and nobody would bring back what a forged journal names.
    const erasures = keepDatabases
      ? { known: journal.erasures.length, repeated: 0, keys: 0, handoffs: 0 }
      : await repeatErasures(servers, journal)
    const present = state !== undefined && existsSync(state) ? state : undefined
    const found = await findGaps(servers.auditUrl, manifest, present)
    const covered = keepDatabases
      ? new Date()
      : await reached(root, manifest, { until, newestCommit: await findNewestCommit(servers) })
    const admitted = options.withoutErasures !== undefined || isEveryErasureKnown(found, journal)
    if (admitted) await admit(context, servers, { ...options, erasures, found })
    return { erasures, found, admitted, covered, vouched }
  })
  const { erasures, found, admitted, covered, vouched } = done
  output.step(
    'passed',
    'erasures',
    `${counted(erasures.known, 'erasure')} known, ${erasures.repeated} done again (${counted(erasures.keys, 'key')}, ${counted(erasures.handoffs, 'text')})`,
  )
  if (!admitted) return refuseServices(context, { journal, found, options })
  // With --json there is one document: that of the restore.
  const said: string[] = []
  const bytes = (data: Uint8Array) => void said.push(Buffer.from(data).toString())
  const silent = { ...output, data: () => undefined, bytes }
  const quiet = output.json ? { ...context, output: silent } : context
  const recovered = await recoverWhereBehind(quiet, { state, found, putBack })
  if (recovered !== EXIT.fine) output.words(said.join(''))
  if (erasures.repeated > 0 && recovered === EXIT.fine) await recordErasures(quiet, found)
  const verified = recovered === EXIT.fine ? await verify(quiet, undefined) : recovered
  for (const gap of found.gaps) output.check('failed', 'missing', describeGap(gap))
  const report: Report = {
    backup: manifest.id,
    until: until instanceof Date ? until.toISOString() : until,
    coveredUntil: covered.toISOString(),
    ms: Math.round(performance.now() - began),
    records: found.records,
    seals: found.seals,
    gaps: found.gaps,
    erasures: { ...erasures, completeUntil: journal.completeUntil },
    admitted,
    vouched,
    verified,
  }
  if (output.json) output.data(JSON.stringify(report))
  output.check(
    'passed',
    'covered',
    `until ${report.coveredUntil}: what was acknowledged later may be gone, and is sent again with the same id`,
  )
  output.check(
    verified === EXIT.fine ? 'passed' : 'failed',
    'restored',
    `${counted(found.records, 'record')} and ${counted(found.seals, 'seal')} in ${elapsed(report.ms)}`,
  )
  output.next(verified === EXIT.fine ? nextStep('doctor') : nextStep('verify'))
  return verified
}

/**
 * Where the log lacks nothing that is known, it has every erasure itself. Otherwise the journal must reach as far as whoever has seen
 * most of the log.
 */
const isEveryErasureKnown = (
  { missing, sealer }: Found,
  { completeUntil }: ErasureJournal,
): boolean => missing === 0 || (sealer !== undefined && (completeUntil ?? '') >= sealer.at)

async function admit(
  context: Context,
  { operationalUrl, auditUrl }: Servers,
  done: Omit<Timed, 'erasures'> & {
    readonly erasures: RepeatedErasures
    readonly found: Found
  },
): Promise<void> {
  const { stored, erasures, found, withoutErasures, keepDatabases = false } = done
  if (!keepDatabases)
    for (const url of new Set([operationalUrl, auditUrl])) await admitServices(url)
  const admin = createPool({ url: operationalUrl, applicationName: 'baton-restore' })
  try {
    await recordRestore(admin, administratorOf(context), {
      id: stored.manifest.id,
      sha256: stored.sha256,
      missing: found.missing,
      erasuresRepeated: erasures.repeated,
      waived: withoutErasures,
    })
  } finally {
    await admin.end()
  }
}

interface Refused {
  readonly journal: ErasureJournal
  readonly found: Found
  readonly options: Timed
}

/** Exit code 4: nobody can say whom services would show. */
function refuseServices({ output }: Context, { journal, found, options }: Refused): ExitCode {
  const { stored, root } = options
  const until = journal.completeUntil ?? 'no time'
  if (output.json)
    output.data(
      JSON.stringify({
        backup: stored.manifest.id,
        admitted: false,
        ...found,
        erasures: journal.completeUntil,
      }),
    )
  for (const gap of found.gaps) output.check('failed', 'missing', describeGap(gap))
  output.check(
    'unknown',
    'erasures',
    `known until ${until}, and the log went on until ${found.sealer?.at ?? 'then'}`,
  )
  output.words(
    [
      '',
      '  Services do not start: somebody may have been erased meanwhile whom these databases still know.',
      '  Either name a newer journal (--erasures FILE: `backup` and `erase` write erasures.jsonl),',
      '  or erase again whom you have receipts or requests of, and say why that is enough: --without-erasures REASON.',
    ].join('\n'),
  )
  output.next(
    nextStep(`restore ${stored.manifest.id} --from ${quoted(root)} --finish --erasures FILE`),
  )
  return EXIT.incomplete
}

async function journalOf(
  { erasures }: RestoreOptions,
  usual: readonly string[],
): Promise<ErasureJournal> {
  const paths = erasures === undefined ? usual : [...usual, resolve(erasures)]
  return mergeJournals(await Promise.all(paths.map(readJournal)))
}

interface Seen {
  readonly state: string | undefined
  readonly found: Found
  readonly putBack: readonly string[]
}

/**
 * Until an auditor records them again, keys of these people are gone without a reason. It does when it starts; on servers of one's own
 * that is when their services do, and where records are missing the sealer signs nothing until that is decided.
 */
async function recordErasures(context: Context, { missing }: Found): Promise<void> {
  const { output, settings } = context
  if (missing > 0 || settings.BATON_DATABASE_ADMIN_URL !== undefined)
    output.words(
      '  The erasures are recorded when auditor and gateway start; `verify` misses their keys until then.',
    )
  else
    await erase(
      { ...context, actAs: context.actAs ?? 'reviewer-1' },
      { subject: undefined, replay: true },
    )
}

/**
 * A state that is gone, or behind the seals of the database, is made anew where the anchors vouch for them; the old one is kept. So is
 * one that has everything, where a watcher came back older than it knows them: the sealer would take that for forgetting, and the
 * recovery shows each of them that the log goes on from what it has.
 */
async function recoverWhereBehind(
  context: Context,
  { state, found, putBack }: Seen,
): Promise<ExitCode> {
  if (state === undefined || context.settings.BATON_DATABASE_ADMIN_URL !== undefined)
    return EXIT.fine
  const isInStep = found.sealer !== undefined && found.sealer.seals >= found.seals
  const isWatchedAsBefore = putBack.length === 0 || found.missing > 0
  if (found.seals === 0 || (isInStep && isWatchedAsBefore)) return EXIT.fine
  if (found.sealer !== undefined) {
    const kept = `${state}.before-restore-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`
    await rename(state, kept)
    context.output.step('passed', 'kept', `the sealer’s state of before is in ${kept}`)
  }
  return recoverSeals(context)
}

const describeGap = ({ origin, records, known, by }: LogGap): string =>
  `records ${records} to ${known - 1} of ${origin}: ${by} knows them, and no backup or write-ahead log has them`

/** On the machine of a server of one's own, as who it runs as. */
async function fillDataDirectory(
  context: Context,
  options: Chosen & { readonly dataDirectory: string },
): Promise<ExitCode> {
  const { output } = context
  const { root, stored, until = 'end', server: name } = options
  const { manifest } = stored
  const server = manifest.servers.find((one) => one.name === name)
  if (server === undefined)
    throw noSuchServer(
      name,
      manifest.servers.map((one) => one.name),
    )
  const target = resolve(options.dataDirectory)
  await mkdir(target, { recursive: true, mode: 0o700 })
  if ((await readdir(target)).length > 0) throw notEmpty(target)
  const { walFiles } = await prepareData(target, {
    root,
    stored,
    server,
    until,
    signal: context.interrupt,
    onProgress: output.progress,
  })
  output.endProgress()
  const major = server.version.split('.', 1)[0] ?? ''
  if (output.json)
    output.data(JSON.stringify({ backup: manifest.id, server: name, target, walFiles }))
  output.check(
    'passed',
    'filled',
    `${target}: ${server.databases.join(', ')} of Postgres ${server.version}, and ${counted(walFiles, 'file')} of write-ahead log`,
  )
  output.words(
    [
      '',
      '  1. Give the folder to the account of the server, where that is not you: chown -R postgres:postgres and chmod 0700.',
      `  2. Start Postgres ${major} on it, for example: pg_ctl -D ${target} -w -t 21600 start`,
      '     It goes through the write-ahead log and then takes connections. No service of Baton starts on it yet.',
      '  3. Once every server is back, with the settings of `migrate`:',
    ].join('\n'),
  )
  output.next(nextStep(`restore ${manifest.id} --from ${quoted(root)} --finish`))
  return EXIT.fine
}

const busy = (pid: number) =>
  permanent('BATON_INSTANCE_BUSY', `process ${pid} serves this instance`, {
    fix: 'Stop that command first: what it uses is replaced.',
  })

const secretsGone = (home: string) =>
  permanent('BATON_SECRETS_MISSING', `the secrets of the instance in ${home} are gone`, {
    fix: 'Name the file that `backup --secrets-to` wrote with --secrets: without the keys in it nothing in a backup can be opened.',
  })

const ofTwoServers = () =>
  permanent(
    'BATON_RESTORE_SERVERS',
    'this backup is of two servers, and an instance of its own has one',
    {
      fix: 'Fill the data directory of each with --data-directory and --server, on its machine.',
    },
  )

const onItsMachine = () =>
  permanent('BATON_RESTORE_SERVERS', 'a server of your own is restored on its machine', {
    fix: 'There, as the account that Postgres runs as: restore --data-directory FOLDER. Once it runs: restore --finish. Without BATON_DATABASE_ADMIN_URL the embedded instance is restored.',
  })

const notEmpty = (target: string) =>
  permanent('BATON_RESTORE_NOT_EMPTY', `${target} is not empty`, {
    fix: 'Stop the server, move what is there away and keep it, then try again.',
  })

const noSuchServer = (name: string, there: readonly string[]) =>
  permanent('BATON_RESTORE_SERVERS', `this backup has no server called ${name}`, {
    fix: `It has ${there.join(' and ')}: one of them is --server.`,
  })
