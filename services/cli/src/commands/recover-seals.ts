// `audit recover-seals`: the sealer's lost state file, made anew where its anchors vouch for the database.
import { permanent } from '@baton/runtime'
import { openLog } from '../context.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { openDatabases, requireInstance } from '../instance/databases.ts'
import { withInstanceLock } from '../instance/instance.ts'
import { runServiceCommand } from '../instance/service-command.ts'
import { onFreePorts, settleServices, startService } from '../instance/services.ts'
import { nextStep } from '../terminal/next-steps.ts'

/** Exit code 3 where the database is not what was sealed, 4 where nothing outside vouches for it. */
export async function recoverSeals(context: Context): Promise<ExitCode> {
  const code = await recoverSealer(context)
  if (code === EXIT.fine) context.output.next(nextStep('verify'))
  if (code === EXIT.fine || code === EXIT.verificationFailed || code === EXIT.incomplete)
    return code
  return EXIT.failure
}

// The instance's own witness answers meanwhile, and nothing else runs.
async function recoverSealer(context: Context): Promise<number> {
  const { home } = context
  await requireInstance(context)
  return withInstanceLock(context, async (running) => {
    if (running !== null) throw busy(running.owner.pid)
    const databases = await openDatabases(context, openLog(home))
    try {
      return await onFreePorts(async (attempt) => {
        const parts = { databases, redisUrl: undefined }
        const { settings } = await settleServices(context, parts, attempt)
        const witness = startService('witness', settings.get('witness') ?? {}, home)
        try {
          await witness.ready
          const environment = settings.get('sealer') ?? {}
          const command = { service: 'sealer', command: 'recover', environment }
          return await runServiceCommand(context, command)
        } finally {
          await witness.stop()
        }
      })
    } finally {
      await databases.stop()
    }
  })
}

const busy = (pid: number) =>
  permanent('BATON_INSTANCE_BUSY', `process ${pid} serves this instance`, {
    fix: 'Stop that command first: a recovery needs the sealer to stand still.',
  })
