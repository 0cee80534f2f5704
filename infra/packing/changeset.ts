// `npm run changeset`: the changes of packages, one file each in `.changeset`, and the versions and changelogs that a release makes of them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { installWorkspace } from '../own-workspace.ts'
import { PUBLIC_PACKAGES } from './public-packages.ts'
import { FOLDERS, ROOT } from './workspace.ts'

const TOOLS = join(import.meta.dirname, 'tools')

await installWorkspace(TOOLS, 'keep the changes of packages')
const program = join(TOOLS, 'node_modules', '@changesets', 'cli', 'bin.js')
const args = process.argv.slice(2)
const child = spawn(process.execPath, [program, ...args], { cwd: ROOT, stdio: 'inherit' })
const [code] = (await once(child, 'close')) as [number | null]
process.exitCode = code ?? 1
// All packages have one version, but nobody reads what changed in those that nobody installs.
if (args[0] === 'version')
  for (const [name, folder] of FOLDERS)
    if (!PUBLIC_PACKAGES.some((told) => told.name === name))
      rmSync(join(folder, 'CHANGELOG.md'), { force: true })
