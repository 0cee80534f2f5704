// In the build of the image: fetches the pinned pnpm and has it install what runs, of the lockfile, and nothing of what develops or tests it.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fetchTools, namesOf, toolFolder } from '../fetch-tools.mjs'
import { pinnedPnpms } from '../pinned-tools.mjs'
import { HOST, ROOT } from '../setup-step.mjs'
import { NEEDED } from './settings.mjs'

const TOOLS = '/tmp/tools'
const FLAGS = [...NEEDED, '--frozen-lockfile', '--ignore-scripts']
/** They say when and where it was installed, and are read by pnpm alone. */
const NOTES = ['.modules.yaml', '.pnpm-workspace-state-v1.json']

async function fetchPnpm() {
  const pnpms = pinnedPnpms(HOST)
  for (const pnpm of pnpms) {
    const { status } = await fetchTools([pnpm], { folder: TOOLS, env: process.env })
    if (status === 0) return join(toolFolder(TOOLS, pnpm.name), 'pnpm')
  }
  throw new Error(`the registry has none of ${namesOf(pnpms)} for ${HOST}`)
}

const options = { cwd: ROOT, stdio: 'inherit' }
const { status } = spawnSync(await fetchPnpm(), ['install', ...FLAGS], options)
for (const note of NOTES) rmSync(join(ROOT, 'node_modules', note), { force: true })
process.exitCode = status ?? 1
