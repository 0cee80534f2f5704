// Installs the workspace's packages as the lockfile says, and knows without asking pnpm when nothing has changed.
import { createHash } from 'node:crypto'
import { constants, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { allows, capture, HOST, ROOT, SetupError, STATE, step } from './setup-step.mjs'

const INSTALLED_STAMP = join(STATE, 'installed')

/** Agent frameworks of others are larger than half of everything else: who only runs Baton does not wait for them. */
const WITHOUT_FRAMEWORKS = [
  '--filter=!./packages/adapters/*',
  '--filter=!./examples/four_frameworks',
]

/** What stands in the stamp: an install with the frameworks is also one without them. */
const stampOf = (fingerprint, frameworks) => `${fingerprint}${frameworks ? ' with frameworks' : ''}`

/** Runs `pnpm install` with the given pnpm and environment. Throws a SetupError with pnpm's words. */
export async function installPackages({ pnpm, env, fingerprint, frameworks }) {
  const flags = ['--frozen-lockfile', '--prefer-offline', '--config.confirmModulesPurge=false']
  if (!frameworks) flags.push(...WITHOUT_FRAMEWORKS)
  const result = await step('installing packages', () =>
    capture({
      command: pnpm,
      args: ['install', ...flags, ...privateStore()],
      env: { ...env, ...privateFolders() },
    }),
  )
  if (result.status !== 0) {
    throw new SetupError('the packages could not be installed.', {
      fix: 'Check the network and the free disk space, then run the command again. If it says the lockfile is outdated, run `pnpm install` first.',
      output: result.output,
    })
  }
  writeFileSync(INSTALLED_STAMP, stampOf(fingerprint, frameworks))
}

/** True when the last successful install was of exactly this fingerprint and nothing was deleted since. */
export function isInstalled(fingerprint, frameworks) {
  if (!existsSync(join(ROOT, 'node_modules', '.modules.yaml'))) return false
  if (
    !workspaceFolders(frameworks).every(
      (folder) => existsSync(join(folder, 'node_modules')) || isBare(folder),
    )
  )
    return false
  if (!existsSync(INSTALLED_STAMP)) return false
  const stamp = readFileSync(INSTALLED_STAMP, 'utf8')
  return stamp === stampOf(fingerprint, true) || stamp === stampOf(fingerprint, frameworks)
}

function isBare(folder) {
  const { dependencies = {}, devDependencies = {} } = readJson(join(folder, 'package.json'))
  return Object.keys({ ...dependencies, ...devDependencies }).length === 0
}

/** Changes whenever an install would: lockfile, workspace settings, any manifest, or the machine. */
export function fingerprintOfPackages() {
  const hash = createHash('sha256').update(HOST)
  const manifests = workspaceFolders(true).map((folder) => join(folder, 'package.json'))
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', '.npmrc']
  for (const file of [...files.map((name) => join(ROOT, name)), ...manifests])
    hash.update(file.slice(ROOT.length)).update(readFileSync(file))
  return hash.digest('hex')
}

function workspaceFolders(frameworks) {
  const parents = ['packages', 'services', ...(frameworks ? ['packages/adapters'] : [])]
  const nested = parents.flatMap((parent) =>
    readdirSync(join(ROOT, parent)).map((name) => join(ROOT, parent, name)),
  )
  const folders = [...nested, join(ROOT, 'schemas'), join(ROOT, 'infra'), join(ROOT, 'test')]
  return folders.filter((folder) => existsSync(join(folder, 'package.json')))
}

/** pnpm's usual store is shared between checkouts and is used when it can be; otherwise one in .baton/ is. */
function privateStore() {
  return homeIsUsable() ? [] : [`--config.storeDir=${join(STATE, 'pnpm', 'store')}`]
}

function privateFolders() {
  if (homeIsUsable()) return {}
  const own = (name) => join(STATE, 'pnpm', name)
  const home = allows(homeFolder(), constants.R_OK | constants.X_OK) ? {} : { HOME: own('home') }
  return {
    ...home,
    XDG_DATA_HOME: own('data'),
    XDG_STATE_HOME: own('state'),
    XDG_CACHE_HOME: own('cache'),
  }
}

function homeIsUsable() {
  const home = homeFolder()
  const { XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME } = process.env
  const folders = [
    XDG_DATA_HOME || join(home, '.local', 'share'),
    XDG_STATE_HOME || join(home, '.local', 'state'),
    XDG_CACHE_HOME || join(home, '.cache'),
  ]
  return folders.every((folder) => canWrite(join(folder, 'pnpm')))
}

function homeFolder() {
  return process.env.HOME || homedir()
}

/** True when the folder, or the nearest one above it that exists, may be written to. */
function canWrite(folder) {
  if (!existsSync(folder)) return folder !== dirname(folder) && canWrite(dirname(folder))
  return allows(folder, constants.W_OK)
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
