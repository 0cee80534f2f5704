// Provides a Node that runs TypeScript, pnpm and the installed packages, on a machine that has only Node 18 and npm.
// Node built-ins only. Everything fetched is pinned by digest and goes into .baton/; progress goes to stderr, so stdout stays the
// command's.
import { spawnSync } from 'node:child_process'
import { constants, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fetchTools, FIX, isFetched, namesOf, toolFolder } from './fetch-tools.mjs'
import { withLock } from './lock.mjs'
import { fingerprintOfPackages, installPackages, isInstalled } from './packages.mjs'
import { pinnedNode, pinnedPnpms } from './pinned-tools.mjs'
import {
  allows,
  HOST,
  ROOT,
  sayWaiting,
  SetupError,
  STATE,
  step,
  whyNot,
  works,
} from './setup-step.mjs'

const TOOLCHAIN = join(STATE, 'toolchain')
const SETUP_WAIT_MS = 600_000
const WINDOWS = process.platform === 'win32'
const NODE = pinnedNode(HOST)
const PNPMS = pinnedPnpms(HOST)
const PNPM_ON_PATH = WINDOWS ? 'pnpm.cmd' : 'pnpm'

/**
 * Makes sure that Node and the packages are there, those of agent frameworks where they are asked for, and returns how to run them.
 * @returns {Promise<{ node: string, env: NodeJS.ProcessEnv }>}
 */
export async function prepareToolchain({ frameworks }) {
  const fingerprint = fingerprintOfPackages()
  if (!isReady(fingerprint, frameworks)) {
    makeStateFolder()
    await withLock(
      join(STATE, 'setup.lock'),
      { waitMs: SETUP_WAIT_MS, onWait: sayWaiting },
      async () => {
        if (!isReady(fingerprint, frameworks)) await setUp(fingerprint, frameworks)
      },
    )
  }
  return { node: nodePath(), env: environment() }
}

async function setUp(fingerprint, frameworks) {
  const packagesReady = isInstalled(fingerprint, frameworks)
  if (!nodeFits() || !packagesReady) await provideTools(!packagesReady)
  if (packagesReady) return
  const pnpm = hasPnpm() ? fetchedPnpm() : PNPM_ON_PATH
  await installPackages({ pnpm, env: environment(), fingerprint, frameworks })
}

function isReady(fingerprint, frameworks) {
  return (nodeFits() || isPresent(NODE)) && isInstalled(fingerprint, frameworks)
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
  return join(toolFolder(TOOLCHAIN, NODE?.name ?? 'node'), 'bin', WINDOWS ? 'node.exe' : 'node')
}

function fetchedPnpm() {
  return join(toolFolder(TOOLCHAIN, `@pnpm/exe.${HOST}`), WINDOWS ? 'pnpm.exe' : 'pnpm')
}

function isPresent(tool) {
  return tool !== undefined && isFetched(TOOLCHAIN, tool)
}

function hasNode() {
  return isPresent(NODE) && works(fetchedNode())
}

function hasPnpm() {
  return PNPMS.some(isPresent) && works(fetchedPnpm())
}

/** The environment for everything that is run: the provided tools first, caches inside the checkout. */
function environment() {
  const pnpm = PNPMS.some(isPresent) ? [dirname(fetchedPnpm())] : []
  const folders = [...pnpm, dirname(nodePath()), join(ROOT, 'node_modules', '.bin')]
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

async function provideTools(needsPnpm) {
  const missesNode = !nodeFits() && !hasNode()
  const missesPnpm = needsPnpm && !hasPnpm() && !pathHasPnpm()
  if (!missesNode && !missesPnpm) return
  if (missesNode && NODE === undefined) {
    throw new SetupError(`Node ${process.version} is too old, and npm has no Node for ${HOST}.`, {
      fix: 'Install Node 24.15 or later (https://nodejs.org) and run the command again.',
    })
  }
  await fetchMissing({ missesNode, missesPnpm })
}

/** All that is fetched is fetched together, because npm removes what is not asked for. */
async function fetchMissing({ missesNode, missesPnpm }) {
  const nodes = missesNode || isPresent(NODE) ? [NODE] : []
  const choices = missesPnpm || PNPMS.some(isPresent) ? PNPMS.map((pnpm) => [pnpm]) : [[]]
  for (const pnpm of choices) {
    const tools = [...nodes, ...pnpm]
    const options = { folder: TOOLCHAIN, env: environment() }
    const { status } = await step(`fetching ${namesOf(tools)}`, () => fetchTools(tools, options))
    if (status === 0 && (!missesNode || hasNode()) && (!missesPnpm || hasPnpm())) return
  }
  throw doesNotRun([whyNot(fetchedNode()), whyNot(fetchedPnpm())].filter((words) => words !== ''))
}

/** What was fetched is there and does not run: its own words say what is missing. */
function doesNotRun(words) {
  const library = /lib[\w.+-]+\.so[\w.]*(?=: cannot open)/.exec(words.join('\n'))?.[0]
  return new SetupError(
    'npm has no Node or pnpm that Baton was tested with and that runs here.',
    library === undefined
      ? { fix: FIX, output: words.join('\n') }
      : {
          output: words.join('\n'),
          fix: `Install the package that has ${library} (Debian: ${packageOf(library)}), then run the command again.`,
        },
  )
}

/** As Debian and Ubuntu call the package of a library: libatomic.so.1 is in libatomic1. */
const packageOf = (library) => library.replace(/\.so\.?/, '')

function makeStateFolder() {
  if (allows(ROOT, constants.W_OK)) mkdirSync(STATE, { recursive: true })
  if (!allows(STATE, constants.W_OK)) {
    throw new SetupError(`${STATE} cannot be written to.`, {
      fix: 'Run as the user who owns the checkout, or make your own clone.',
    })
  }
}
