// Installs the tools of one folder as its own lockfile says: only the command that needs them does, so that no other command waits for them.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.ts'

const FILES = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']

/** `what` completes "the packages that … could not be installed". Does nothing where the same files were installed before. */
export async function installWorkspace(folder: string, what: string): Promise<void> {
  const stamp = join(folder, 'node_modules', '.installed')
  const hash = createHash('sha256')
  for (const name of FILES) hash.update(readFileSync(join(folder, name)))
  const wanted = hash.digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  const args = ['install', '--frozen-lockfile', '--prefer-offline']
  const { exitCode, output } = await run('pnpm', args, { cwd: folder })
  if (exitCode !== 0)
    throw new Error(
      `the packages that ${what} could not be installed.\n${output}\n  Check the network, then run the command again.`,
    )
  writeFileSync(stamp, wanted)
}
