// Installs what builds the manual, as its own lockfile says: only this command needs it, so that no other command waits for it.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.ts'
import { ROOT } from './pages.ts'

const FOLDER = join(ROOT, 'infra', 'manual')
const STAMP = join(FOLDER, 'node_modules', '.installed')
const FILES = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']

export async function installBuilder(): Promise<void> {
  const hash = createHash('sha256')
  for (const name of FILES) hash.update(readFileSync(join(FOLDER, name)))
  const wanted = hash.digest('hex')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  const args = ['install', '--frozen-lockfile', '--prefer-offline']
  const { exitCode, output } = await run('pnpm', args, { cwd: FOLDER })
  if (exitCode !== 0)
    throw new Error(
      `the packages that build the manual could not be installed.\n${output}\n  Check the network, then run the command again.`,
    )
  writeFileSync(STAMP, wanted)
}
