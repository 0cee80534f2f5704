// Whether there is a backup, how old it is, and whether anybody has ever restored one to see that it can be.
import { readTrace } from '@baton/audit'
import { DEFAULT_TENANT, taskOfOperations } from '@baton/ledger'
import type { OperationDetail } from '@baton/ledger'
import { findNewestOperations } from '@baton/store'
import type { NewestOperation } from '@baton/store'
import { backupRoot, listBackups } from '../backup/backup-folder.ts'
import { readFollowed } from '../backup/followed.ts'
import type { Context } from '../context.ts'
import type { OpenedDatabases } from '../instance/databases.ts'
import { elapsed } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { failed, passed, unknown } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'

const TAKEN = 'a backup was taken'
const FOLLOWED = 'what is committed is followed'
const DRILLED = 'one was restored for trial'

/** As the databases know it of the last 90 days, and the log of the drill’s result. Nothing counts as broken where there is none. */
export async function diagnoseBackups(
  context: Pick<Context, 'home' | 'settings'>,
  { pool, audit }: OpenedDatabases,
  now: Date,
): Promise<readonly Diagnosis[]> {
  const newest = await findNewestOperations(pool, ['BACKUP_TAKEN', 'RESTORE_DRILLED'])
  const [taken, drilled] = ['BACKUP_TAKEN', 'RESTORE_DRILLED'].map((event) =>
    newest.find((one) => one.event === event),
  )
  const details = drilled === undefined ? undefined : await detailsOf(audit, drilled)
  return [
    taken === undefined
      ? unknown('backups', TAKEN, `none in 90 days: ${nextStep('backup --to FOLDER')}`)
      : { ...passed('backups', TAKEN, `${age(taken, now)} ago`), isTold: true },
    judgeDrill(drilled && { age: age(drilled, now), details }),
    ...(await diagnoseFollowing(context, now).catch(notReadable)),
  ]
}

const notReadable = (error: unknown): readonly Diagnosis[] => [
  unknown('backups', FOLLOWED, error instanceof Error ? error.message : String(error)),
]

/** One that follows says so every second. */
const SILENT_MAX_MS = 60_000

/** Nothing where nobody here ever followed: a loss costs what came after the newest backup then. */
async function diagnoseFollowing(
  context: Pick<Context, 'home' | 'settings'>,
  now: Date,
): Promise<readonly Diagnosis[]> {
  const root = backupRoot(context, undefined)
  const newest = (await listBackups(root)).at(-1)?.manifest
  const followed = await Promise.all(
    (newest?.servers ?? []).map(({ systemId }) => readFollowed(root, systemId)),
  )
  const times = followed.filter((one) => one !== undefined).map((one) => one.coveredUntil)
  const [oldest] = times.toSorted()
  if (oldest === undefined) return []
  const ageMs = Math.max(0, now.getTime() - Date.parse(oldest))
  return ageMs < SILENT_MAX_MS
    ? [{ ...passed('backups', FOLLOWED, `until ${elapsed(ageMs)} ago`), isTold: true }]
    : [unknown('backups', FOLLOWED, `not since ${oldest}: ${nextStep('backup follow')}`)]
}

interface SeenDrill {
  readonly age: string
  /** Undefined where its record is not in the log yet. */
  readonly details: readonly OperationDetail[] | undefined
}

export function judgeDrill(drill: SeenDrill | undefined): Diagnosis {
  if (drill === undefined)
    return unknown('backups', DRILLED, `none in 90 days: ${nextStep('restore drill')}`)
  const { age: ago, details } = drill
  if (details === undefined)
    return unknown('backups', DRILLED, `${ago} ago; the log has not taken its result yet`)
  const said = (wanted: string) => details.find(({ code }) => code === wanted)?.value ?? undefined
  if (said('RESULT') !== 'PASSED')
    return failed('backups', DRILLED, {
      text: `that of ${ago} ago failed (${said('FAILURE') ?? 'what was restored did not verify'}): take another backup, then ${nextStep('restore drill')}`,
    })
  const text = `${ago} ago: verified in ${said('RTO_SECONDS') ?? '?'} s, and it lacked the newest ${said('RPO_SECONDS') ?? '?'} s`
  return { ...passed('backups', DRILLED, text), isTold: true }
}

const age = ({ toldAt }: NewestOperation, now: Date): string =>
  elapsed(Math.max(0, now.getTime() - toldAt.getTime()))

async function detailsOf(
  { pool, cold }: OpenedDatabases['audit'],
  { handoffId, toldAt }: NewestOperation,
): Promise<readonly OperationDetail[] | undefined> {
  const taskId = taskOfOperations(DEFAULT_TENANT, toldAt.toISOString())
  const { records } = await readTrace(pool, taskId, { cold })
  return records.find(({ body }) => body.handoffId === handoffId)?.body.operation?.details
}
