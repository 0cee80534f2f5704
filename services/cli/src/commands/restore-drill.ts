// `restore drill`: puts a backup back beside the instance, has it verified as an auditor would, and says what a loss now would cost.
import { join, resolve } from 'node:path'
import { createFileColdStore } from '@baton/audit'
import { recordRestoreDrill } from '@baton/engine'
import { codeOf, permanent } from '@baton/runtime'
import { createPool } from '@baton/store'
import {
  backupRoot,
  findBackup,
  listFile,
  requireListed,
  sharedPlaces,
} from '../backup/backup-folder.ts'
import type { StoredBackup } from '../backup/backup-folder.ts'
import { withBackupLock } from '../backup/backup-lock.ts'
import { isBucket, withFetched } from '../backup/bucket.ts'
import { sealCopy } from '../backup/copy-seals.ts'
import { mergeJournals, readJournal } from '../backup/erasure-journal.ts'
import { reached } from '../backup/followed.ts'
import { isRecorded, requireManifest } from '../backup/recorded-digest.ts'
import { findGaps, repeatErasures } from '../backup/finish-restore.ts'
import type { LogGap } from '../backup/finish-restore.ts'
import type { Until } from '../backup/prepare-data.ts'
import { ERASURES, readLogPosition } from '../backup/take-backup.ts'
import { withThrowAway } from '../backup/throw-away.ts'
import type { ThrowAway } from '../backup/throw-away.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { administratorOf, coldOf, withCopy, withServers } from '../instance/databases.ts'
import { count, counted, elapsed } from '../terminal/figures.ts'
import { nextStep, quoted } from '../terminal/next-steps.ts'
import { diagnosePromises } from './diagnose-promises.ts'
import type { Diagnosis } from './diagnosis.ts'
import { exitCodeOf } from './doctor.ts'
import { knownPeople } from '../instance/known-people.ts'

interface RestoreDrillOptions {
  readonly which: string | undefined
  readonly from?: string | undefined
  readonly until?: Until | undefined
  readonly in?: string | undefined
  /** The digest that its manifest must have. */
  readonly manifest?: string | undefined
}

interface Drilled {
  readonly backup: string
  readonly until: string
  readonly passed: boolean
  /** Everything that was committed before is in what was restored. */
  readonly coveredUntil: string
  /** How long ago that was when the drill began: what a loss at that moment would have cost. */
  readonly rpoSeconds: number
  /** Until it was unpacked, recovered and verified. */
  readonly rtoSeconds: number
  readonly unpackMs: number
  readonly recoverMs: number
  readonly verifyMs: number
  readonly walFiles: number
  /** Whether the live log names this very backup; otherwise --manifest did. */
  readonly vouched: boolean
  readonly records: number
  readonly seals: number
  /** Records that the live log had when the drill began, and what was restored has not. */
  readonly recordsBehind: number
  /** What the backup says it holds, and what was restored has not. */
  readonly gaps: readonly LogGap[]
  readonly erasures: { readonly known: number; readonly repeated: number }
  readonly rules: { readonly held: number; readonly broken: number; readonly unknown: number }
  readonly findings: readonly Diagnosis[]
}

/**
 * Exit code 3 where the restored log does not verify or lacks what the backup lists, 1 where another rule is broken, 4 where the drill
 * could not be recorded. Throws BATON_BACKUP_UNRECORDED where nobody vouches for the backup.
 */
export async function restoreDrill(
  context: Context,
  options: RestoreDrillOptions,
): Promise<ExitCode> {
  const { from, which } = options
  if (isBucket(from))
    return withFetched(context, { from, which }, (root) =>
      restoreDrill(context, { ...options, from: root }),
    )
  const root = backupRoot(context, from)
  return withBackupLock(context, root, async () => {
    const stored = await findBackup(root, options.which)
    const { drilled, exitCode } = await drillRecorded(context, { ...options, root, stored })
    const isNoted = await recorded(context, stored, drilled)
    tell(context, { root, drilled, isNoted })
    return exitCode === EXIT.fine && !isNoted ? EXIT.incomplete : exitCode
  })
}

type Chosen = RestoreDrillOptions & { readonly root: string; readonly stored: StoredBackup }

/** One that could not be restored at all is on record too. */
async function drillRecorded(
  context: Context,
  chosen: Chosen,
): Promise<{ readonly drilled: Drilled; readonly exitCode: ExitCode }> {
  try {
    return await drill(context, chosen)
  } catch (error) {
    const failure = codeOf(error)
    if (failure !== 'BATON_INTERRUPTED')
      await recorded(context, chosen.stored, { passed: false, records: 0, failure })
    throw error
  }
}

async function drill(
  context: Context,
  { root, stored, until = 'end', in: within, manifest }: Chosen,
): Promise<{ readonly drilled: Drilled; readonly exitCode: ExitCode }> {
  const { output } = context
  requireManifest(stored, manifest)
  const { live, vouched } = await withServers(context, async (servers) => ({
    live: await readLogPosition(servers.auditUrl),
    vouched: await isRecorded(servers, stored, coldOf(context)),
  }))
  if (!vouched && manifest === undefined) throw unknownToLog(stored)
  requireListed(await listFile(stored.folder, ERASURES), stored.manifest)
  const beganAt = new Date()
  const began = performance.now()
  const place = within === undefined ? join(context.home, 'drill') : resolve(within, 'baton-drill')
  return withThrowAway(context, { root, stored, until, place }, async (restored) => {
    const { servers, walFiles, unpackMs, recoverMs } = restored
    output.step('passed', 'restored', `backup ${stored.manifest.id} in ${place}`)
    const verifyBegan = performance.now()
    const findings = await diagnose(context, { root, stored, restored })
    const found = await findGaps(servers.auditUrl, stored.manifest, undefined)
    const ended = performance.now()
    const journal = mergeJournals(
      await Promise.all(
        [sharedPlaces(root).erasures, join(stored.folder, ERASURES)].map(readJournal),
      ),
    )
    // After the verification: their keys are gone then, and the auditor that records why does not run here.
    const erasures = await repeatErasures(servers, journal)
    const covered = await reached(root, stored.manifest, {
      until,
      newestCommit: restored.newestCommit,
    })
    const liveRecords = live.chains.reduce((sum, { records }) => sum + records, 0)
    const exitCode = found.gaps.length > 0 ? EXIT.verificationFailed : exitCodeOf(findings)
    const numberOf = (mark: Diagnosis['mark']) =>
      findings.filter((finding) => finding.mark === mark).length
    const drilled: Drilled = {
      backup: stored.manifest.id,
      until: until instanceof Date ? until.toISOString() : until,
      passed: exitCode === EXIT.fine,
      coveredUntil: covered.toISOString(),
      rpoSeconds: seconds(Math.max(0, beganAt.getTime() - covered.getTime())),
      rtoSeconds: seconds(ended - began),
      unpackMs,
      recoverMs,
      verifyMs: Math.round(ended - verifyBegan),
      walFiles,
      vouched,
      records: found.records,
      seals: found.seals,
      recordsBehind: Math.max(0, liveRecords - found.records),
      gaps: found.gaps,
      erasures: { known: erasures.known, repeated: erasures.repeated },
      rules: {
        held: numberOf('passed'),
        broken: numberOf('failed'),
        unknown: numberOf('unknown'),
      },
      findings: findings.filter(({ mark }) => mark !== 'passed'),
    }
    return { drilled, exitCode }
  })
}

/** A server that is started runs what stands in its databases: of that, whoever wrote to the folder is not believed. */
const unknownToLog = ({ manifest: { id }, sha256 }: StoredBackup) =>
  permanent(
    'BATON_BACKUP_UNRECORDED',
    `the live log knows no backup ${id}, so nobody vouches for what is in it`,
    {
      fix: `Where \`backup\` printed ${sha256} for it, repeat the drill with --manifest ${sha256}. Otherwise name another backup (\`baton backup ls\`), and find out who may write to its folder.`,
    },
  )

interface Restored {
  readonly root: string
  readonly stored: StoredBackup
  readonly restored: ThrowAway
}

/** Every promise as `doctor` judges it, but for what is about processes that run: none does here. */
async function diagnose(
  context: Context,
  { root, stored, restored }: Restored,
): Promise<readonly Diagnosis[]> {
  const { output, settings } = context
  const people = await knownPeople(context)
  const copy = {
    servers: restored.servers,
    anchorFile: sealCopy(stored, 'anchor file'),
    sealerState: sealCopy(stored, 'sealer state'),
    cold: stored.manifest.cold === null ? undefined : createFileColdStore(sharedPlaces(root).cold),
  }
  const findings = await withCopy(context, copy, (opened) =>
    diagnosePromises(opened, { settings, people }, (text) => output.progress(text)),
  )
  output.endProgress()
  return findings.filter(({ about }) => about !== 'seals')
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10

/** In the live log. The drill counts as what it was also where that is away. */
async function recorded(
  context: Context,
  { manifest: { id }, sha256 }: StoredBackup,
  drilled: Omit<Parameters<typeof recordRestoreDrill>[2], 'id' | 'sha256'>,
): Promise<boolean> {
  const { output } = context
  try {
    await withServers(context, async ({ operationalUrl }) => {
      const admin = createPool({ url: operationalUrl, applicationName: 'baton-drill' })
      try {
        await recordRestoreDrill(admin, administratorOf(context), { ...drilled, id, sha256 })
      } finally {
        await admin.end()
      }
    })
    return true
  } catch (error) {
    output.words(`The drill is not on record (${codeOf(error)}): run it again.`)
    return false
  }
}

const FINDINGS_SHOWN_MAX = 20

interface Told {
  readonly root: string
  readonly drilled: Drilled
  readonly isNoted: boolean
}

function tell({ output }: Context, { root, drilled, isNoted }: Told): void {
  if (output.json) output.data(JSON.stringify({ ...drilled, recorded: isNoted }))
  const { backup, records, seals, gaps, rules, findings, passed } = drilled
  const { recordsBehind, coveredUntil, rpoSeconds, rtoSeconds } = drilled
  for (const { origin, records: there, known, by } of gaps)
    output.check(
      'failed',
      'missing',
      `records ${there} to ${known - 1} of ${origin}, which ${by} knows`,
    )
  for (const { mark, rule, text } of findings.slice(0, FINDINGS_SHOWN_MAX))
    output.check(mark, 'rule', `${rule}: ${text}`)
  output.check(
    passed ? 'passed' : 'failed',
    'drill',
    `backup ${backup}: ${counted(records, 'record')}, ${counted(seals, 'seal')}, ${counted(rules.held, 'rule')} hold and ${count(rules.broken)} are broken`,
  )
  const { known, repeated } = drilled.erasures
  output.check('passed', 'erasures', `${count(known)} known, ${count(repeated)} done again`)
  output.check(
    'passed',
    'RPO',
    `${elapsed(rpoSeconds * 1_000)}: what was committed until ${coveredUntil} is in it, and ${counted(recordsBehind, 'record')} of the live log ${recordsBehind === 1 ? 'is' : 'are'} not`,
  )
  output.check(
    'passed',
    'RTO',
    `${elapsed(rtoSeconds * 1_000)}: unpacked in ${elapsed(drilled.unpackMs)}, recovered in ${elapsed(drilled.recoverMs)}, verified in ${elapsed(drilled.verifyMs)}`,
  )
  output.check(
    drilled.vouched ? 'passed' : 'unknown',
    'manifest',
    drilled.vouched
      ? 'its SHA-256 is the one that the live log recorded'
      : 'the live log knows no backup of this id; its SHA-256 is the one that was given',
  )
  output.check(isNoted ? 'passed' : 'unknown', 'recorded', 'in the live log, as RESTORE_DRILLED')
  output.next(
    passed ? nextStep('doctor') : nextStep(`backup verify ${backup} --to ${quoted(root)}`),
  )
}
