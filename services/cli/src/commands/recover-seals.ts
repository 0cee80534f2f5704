// `audit recover-seals`: the sealer's lost state file, made anew where its anchors vouch for the database.
import { spawn } from 'node:child_process'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { permanent } from '@baton/runtime'
import { openLog, ROOT } from '../context.ts'
import type { Context, Environment } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { coldFolderOf, openDatabases, requireInstance } from '../instance/databases.ts'
import { withInstanceLock } from '../instance/instance.ts'
import { serviceMain, settleServices, startService } from '../instance/services.ts'
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
      const { settings } = await settleServices(context, { databases, redisUrl: undefined }, 1)
      const witness = startService('witness', settings.get('witness') ?? {}, home)
      try {
        await witness.ready
        const cold = { BATON_COLD_FOLDER: coldFolderOf(context.settings, home) }
        return await runRecovery(context, { ...settings.get('sealer'), ...cold })
      } finally {
        await witness.stop()
      }
    } finally {
      await databases.stop()
    }
  })
}

/** The sealer's own `recover`. Its log lines go to the sealer's log, whatever else it says to the person. */
async function runRecovery({ output, home }: Context, environment: Environment): Promise<number> {
  const args = [serviceMain('sealer'), 'recover', ...(output.json ? ['--json'] : [])]
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.on('data', (bytes: Buffer) => output.bytes(bytes))
  const said: Buffer[] = []
  child.stderr.on('data', (bytes: Buffer) => said.push(bytes))
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (ended) => resolve(ended ?? 1))
  })
  const lines = Buffer.concat(said)
    .toString()
    .split('\n')
    .filter((line) => line !== '')
  const [logged, words] = [lines.filter(isLogged), lines.filter((line) => !isLogged(line))]
  await appendFile(join(home, 'logs', 'sealer.log'), logged.map((line) => `${line}\n`).join(''))
  if (words.length > 0) output.words(words.join('\n'))
  return code
}

const isLogged = (line: string): boolean => line.startsWith('{')

const busy = (pid: number) =>
  permanent('BATON_INSTANCE_BUSY', `process ${pid} serves this instance`, {
    fix: 'Stop that command first: a recovery needs the sealer to stand still.',
  })
