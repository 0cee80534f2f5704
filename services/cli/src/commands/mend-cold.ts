// `audit mend-cold`: what is missing in the cold store, written anew from the database while that still has it.
import { permanent } from '@baton/runtime'
import { openLog } from '../context.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { openDatabases, requireInstance } from '../instance/databases.ts'
import { withInstanceLock } from '../instance/instance.ts'
import { runServiceCommand } from '../instance/service-command.ts'
import { settleServices } from '../instance/services.ts'
import { nextStep } from '../terminal/next-steps.ts'

/** Exit code 3 where something is left that cannot be mended, or that somebody has to move away first. */
export async function mendCold(context: Context): Promise<ExitCode> {
  await requireInstance(context)
  const code = await withInstanceLock(context, async (running) => {
    if (running !== null) throw busy(running.owner.pid)
    const databases = await openDatabases(context, openLog(context.home))
    try {
      const { settings } = await settleServices(context, { databases, redisUrl: undefined }, 1)
      const environment = settings.get('archiver') ?? {}
      return await runServiceCommand(context, { service: 'archiver', command: 'mend', environment })
    } finally {
      await databases.stop()
    }
  })
  if (code === EXIT.fine) context.output.next(nextStep('verify'))
  return code === EXIT.fine || code === EXIT.verificationFailed ? code : EXIT.failure
}

const busy = (pid: number) =>
  permanent('BATON_INSTANCE_BUSY', `process ${pid} serves this instance`, {
    fix: 'Stop that command first: its archiver stands still until it is started again.',
  })
