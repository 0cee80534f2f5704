// `migrate`: creates or updates databases, roles and chains; safe to run again.
import type { PlannedMigration } from '@baton/store'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { migrateDatabases, openDatabases, planDatabases } from '../instance/databases.ts'
import { openLog } from '../context.ts'
import type { Context } from '../context.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Output } from '../terminal/output.ts'

interface MigrateOptions {
  readonly dryRun?: boolean
}

export async function migrate(
  context: Context,
  { dryRun = false }: MigrateOptions,
): Promise<ExitCode> {
  const { output } = context
  const databases = await openDatabases(context, openLog(context.home))
  try {
    if (dryRun) {
      tellPlan(output, await planDatabases(databases, context.settings))
      return EXIT.fine
    }
    const applied = await migrateDatabases(databases, context)
    if (output.json) output.data(JSON.stringify(applied))
    for (const name of applied) output.check('passed', 'applied', name)
    if (applied.length === 0)
      output.words(`${databases.description}: everything was applied before.`)
    output.next(nextStep('doctor'))
    return EXIT.fine
  } finally {
    await databases.stop()
  }
}

/** Each migration that would run, and what others cannot do meanwhile with tables that are there. */
function tellPlan(output: Output, planned: readonly PlannedMigration[]): void {
  if (output.json) output.data(JSON.stringify(planned))
  for (const { name, changes } of planned) {
    const needsNewer = changes.some(({ withdrawn }) => withdrawn.length > 0)
    output.check(needsNewer ? 'unknown' : 'passed', 'would apply', name)
    for (const change of changes) output.check('passed', '', describeChange(change))
  }
  if (planned.length === 0) output.words('everything was applied before.')
  else if (planned.some(({ changes }) => changes.some(({ withdrawn }) => withdrawn.length > 0)))
    output.words('Processes of the version before cannot run beside it: stop them first.')
  else output.words('Processes of the version before may go on meanwhile.')
  output.next(planned.length === 0 ? nextStep('doctor') : nextStep('migrate'))
}

function describeChange({
  table,
  lock,
  isRewritten,
  isScanned,
  withdrawn,
}: PlannedMigration['changes'][number]): string {
  const work = isRewritten ? ', writes every row anew' : isScanned ? ', reads every row' : ''
  const gone = withdrawn.length === 0 ? '' : `; the version before misses ${withdrawn.join(', ')}`
  return `${table}: ${HINDERS[lock] ?? 'hinders nobody'}${work}${gone}`
}

/** What waits while a migration holds each lock. */
const HINDERS: Readonly<Record<string, string>> = {
  AccessExclusiveLock: 'nobody reads or writes it',
  ExclusiveLock: 'nobody writes it',
  ShareRowExclusiveLock: 'nobody writes it',
  ShareLock: 'nobody writes it',
}
