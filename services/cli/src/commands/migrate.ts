// `migrate`: creates or updates databases, roles and chains; safe to run again.
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { migrateDatabases, openDatabases } from '../instance/databases.ts'
import { openLog } from '../context.ts'
import type { Context } from '../context.ts'
import { nextStep } from '../terminal/next-steps.ts'

export async function migrate(context: Context): Promise<ExitCode> {
  const { output } = context
  const databases = await openDatabases(context, openLog(context.home))
  try {
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
