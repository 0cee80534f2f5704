// Recovers the state of an instance's own sealer: its witness answers meanwhile, and nothing else runs.
import { spawn } from 'node:child_process'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withLock } from '@baton/embedded'
import { permanent } from '@baton/runtime'
import { ROOT } from '../context.ts'
import type { Context, Environment } from '../context.ts'
import { coldFolderOf } from './archive-keys.ts'
import { startChild } from './child-service.ts'
import { openDatabases, requireInstance } from './databases.ts'
import { openLog } from './instance.ts'
import { runningInstance } from './instance-record.ts'
import { choosePorts } from './ports.ts'
import { prepareSeals } from './prepare-seals.ts'
import { WITNESS_PORT } from './services.ts'

/**
 * Runs the sealer's own `recover` with the instance's settings, its words on stdout and its log in
 * `logs/`; answers its exit code. Throws BATON_INSTANCE_MISSING and BATON_INSTANCE_BUSY.
 */
export async function recoverSealer(context: Context): Promise<number> {
  const { home, settings } = context
  await requireInstance(context)
  return withLock(join(home, 'instance.lock'), { waitMs: LOCK_WAIT_MS }, async () => {
    const running = await runningInstance(home)
    if (running !== null) throw busy(running.owner.pid)
    const databases = await openDatabases(context, openLog(home))
    try {
      const { BATON_GATEWAY_PORT: gateway, BATON_AUDITOR_PORT: auditor } = settings
      const ports = await choosePorts({ gateway, auditor, witness: WITNESS_PORT }, 1)
      const trustedKeys = settings.BATON_AUDIT_TRUSTED_KEYS
      const seals = await prepareSeals({ home, databases, ports, trustedKeys })
      const logsDir = join(home, 'logs')
      const own = { PATH: context.environment['PATH'] }
      const environment = { ...own, ...seals.witness }
      const witness = startChild({ name: 'witness', environment, logsDir })
      try {
        await witness.ready
        return await runRecovery(context, { ...own, ...seals.sealer, ...coldStore(context) })
      } finally {
        await witness.stop()
      }
    } finally {
      await databases.stop()
    }
  })
}

const LOCK_WAIT_MS = 120_000

const coldStore = ({ home, settings, environment }: Context): Environment => ({
  ...Object.fromEntries(
    Object.entries(environment).filter(([name]) => /^BATON_COLD_|^AWS_/.test(name)),
  ),
  BATON_COLD_FOLDER: coldFolderOf(settings, home),
})

/** Its log lines go to the sealer's log, whatever else it says to the person. */
async function runRecovery({ output, home }: Context, environment: Environment): Promise<number> {
  const main = join(ROOT, 'services', 'sealer', 'src', 'main.ts')
  const child = spawn(process.execPath, [main, 'recover', ...(output.json ? ['--json'] : [])], {
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
