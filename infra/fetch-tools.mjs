// Fetches pinned packages from npm into a folder of their own. npm unpacks nothing whose digest is another than the pinned one,
// and what stands there from before counts only where this has checked it.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { capture, SetupError } from './setup-step.mjs'

const WINDOWS = process.platform === 'win32'
const CHECKED = 'checked.json'
const FLAGS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--fetch-retries=2',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
]

/** Where a package's own files stand. */
export const toolFolder = (folder, name) => join(folder, 'node_modules', name)

/** Whether exactly this tool was fetched into the folder, and its digest was right. */
export function isFetched(folder, { name, integrity }) {
  return existsSync(toolFolder(folder, name)) && readChecked(folder)[name] === integrity
}

/**
 * Fetches `tools` and nothing else into `folder`, which is emptied before. The status is not 0 where the registry does not have
 * one of them. Throws a SetupError where one is not what was pinned, or npm fails.
 */
export async function fetchTools(tools, { folder, env }) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const dependencies = Object.fromEntries(tools.map(({ name, version }) => [name, version]))
  const locked = tools.map(({ name, version, integrity }) => [
    `node_modules/${name}`,
    { version, integrity },
  ])
  const root = { name: 'toolchain', version: '1.0.0', private: true, dependencies }
  const lock = {
    name: root.name,
    version: root.version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': root, ...Object.fromEntries(locked) },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(root))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
  const { status, output } = await npmCi(folder, env)
  if (status === 0) {
    const digests = Object.fromEntries(tools.map(({ name, integrity }) => [name, integrity]))
    writeFileSync(join(folder, CHECKED), JSON.stringify(digests))
    return { status }
  }
  rmSync(folder, { recursive: true, force: true })
  if (/EINTEGRITY/.test(output)) throw tampered(tools, output)
  if (/ETARGET|E404/.test(output)) return { status }
  throw new SetupError(`npm could not fetch ${namesOf(tools)}.`, { fix: FIX, output })
}

export const FIX =
  'Check the network (behind a proxy set HTTPS_PROXY), or install Node 24.15 or later and pnpm 12 yourself, then run `pnpm install`.'

export const namesOf = (tools) =>
  tools.map(({ name, version }) => `${name}@${version}`).join(' and ')

const tampered = (tools, output) =>
  new SetupError(
    `${namesOf(tools)}: what the registry serves is not what Baton was tested with. Nothing of it was run.`,
    {
      fix: 'Do not go on with this registry or proxy before you know why: compare the digest in infra/pinned-tools.mjs with the one that `npm view NAME@VERSION dist.integrity` answers elsewhere.',
      output,
    },
  )

async function npmCi(folder, env) {
  const cache = join(folder, 'npm-cache')
  const [command, first] = npmCommand()
  const args = [...first, 'ci', '--prefix', folder, `--cache=${cache}`, ...FLAGS]
  try {
    return await capture({ command, args, env })
  } finally {
    rmSync(cache, { recursive: true, force: true })
  }
}

/** The npm that runs this command when there is one; it need not be on PATH. */
function npmCommand() {
  const running = process.env.npm_execpath ?? ''
  if (basename(running) === 'npm-cli.js') return [process.execPath, [running]]
  return [WINDOWS ? 'npm.cmd' : 'npm', []]
}

function readChecked(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, CHECKED), 'utf8'))
  } catch {
    return {}
  }
}
