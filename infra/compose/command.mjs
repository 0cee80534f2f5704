// Runs commands of Baton's command line. Where one fails this process ends with its exit code.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const CLI = join(import.meta.dirname, '../../services/cli/src/main.ts')

/** As its user would, with all that it says. */
export const baton = (args, environment = {}) => run(args, { environment, stdio: 'inherit' })

/** What it says is shown where it fails. */
export const quietly = (args) => run(args, { stdio: 'pipe' })

function run(args, { environment = {}, stdio }) {
  const env = { ...process.env, ...environment }
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    env,
    stdio,
    encoding: 'utf8',
  })
  if (status === 0) return
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`)
  process.exit(status ?? 1)
}
