// Runs Baton's commands on a machine that has only Node 18 or later and npm: sets up what is missing, then dispatches.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { machineTrouble } from './machine-trouble.mjs'
import { ROOT, SetupError } from './setup-step.mjs'
import { prepareToolchain } from './toolchain.mjs'

/** A signal seen again within this time is the same one, sent both to the group and to this process. */
const SIGNAL_REPEAT_MS = 1_000
const CLI = 'services/cli/src/main.ts'
const COMMANDS = {
  up: { run: [CLI, 'up'], about: 'set everything up and run the main job (-- --once --json)' },
  baton: { run: [CLI], about: 'the command line (-- --help)' },
  test: {
    run: ['infra/gate.mjs'],
    about: 'the gate: format, layers, lint, types, dead code, generated files, all tests',
  },
  'test-long': {
    run: ['infra/gate.mjs', '--long'],
    about: 'the same gate, with every matrix and campaign whole instead of a slice of it',
  },
  supply: {
    run: ['infra/supply-chain/main.ts'],
    about: 'what this is made of (-- sbom | licences | audit)',
  },
  manual: {
    run: ['infra/manual/main.ts'],
    about: 'the manual as a site (-- --serve)',
  },
  interfaces: {
    run: ['infra/interfaces/main.ts'],
    about: 'have the tools of others read what a live instance says of its interfaces',
  },
  packages: {
    run: ['infra/packing/main.ts'],
    about: 'pack what npm is given, and try it under each Node (-- pack FOLDER)',
  },
  changeset: {
    run: ['infra/packing/changeset.ts'],
    about: 'what packages change, for the next release (-- status | version)',
  },
  bench: { run: ['test/bench/main.ts'], about: 'measure' },
  chaos: { run: ['test/chaos/main.ts'], about: 'break everything at once and check every promise' },
}

/** Who only runs Baton does not wait for agent frameworks to be installed. */
const WITHOUT_FRAMEWORKS = new Set(['up', 'baton', 'bench'])

async function main([name = '', ...args]) {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null
  if (command === null) return usage(name)
  const { node, env } = await prepareToolchain({ frameworks: !WITHOUT_FRAMEWORKS.has(name) })
  const [file, ...first] = command.run
  if (!existsSync(join(ROOT, file))) {
    throw new SetupError(`${file} is missing from this checkout.`, {
      fix: 'Clone the repository again.',
    })
  }
  return await runInForeground(node, [join(ROOT, file), ...first, ...args], env)
}

/** The child shares our terminal; its exit code becomes ours. */
async function runInForeground(node, args, env) {
  // Relative paths in arguments are meant from where the person typed the command.
  const cwd = process.env.INIT_CWD && existsSync(process.env.INIT_CWD) ? process.env.INIT_CWD : ROOT
  const isTest = args[0].endsWith('gate.mjs')
  const child = spawn(node, args, { cwd: isTest ? ROOT : cwd, env, stdio: 'inherit' })
  forwardSignals(child)
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      const ended = code ?? 128 + constants.signals[signal]
      if (WITHOUT_WORDS.includes(ended)) process.stderr.write(endedFor(signal ?? `code ${code}`))
      resolve(ended)
    })
  })
}

/** SIGABRT, SIGBUS, SIGKILL, SIGSEGV: whoever is ended by these cannot say why. */
const WITHOUT_WORDS = [134, 135, 137, 139]

const endedFor = (how) =>
  `baton: the command was ended (${how}), by somebody or for want of memory; nothing that was acknowledged is lost\n  Where it was memory, end other programs (\`free -m\`) or raise the limit (\`ulimit -v\`, that of the container), then run it again.\n`

/** A Ctrl-C in a terminal reaches the child directly, so only signals sent to us alone are passed on. */
function forwardSignals(child) {
  const lastAt = new Map()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const now = performance.now()
      const repeated = now - (lastAt.get(signal) ?? -Infinity) < SIGNAL_REPEAT_MS
      lastAt.set(signal, now)
      if (!repeated && !(signal === 'SIGINT' && process.stdin.isTTY)) child.kill(signal)
    })
  }
}

function usage(name) {
  const lines = Object.entries(COMMANDS).map(
    ([key, { about }]) => `  npm run ${key.padEnd(10)} ${about}`,
  )
  const problem = name === '' ? '' : `baton: there is no command "${name}"\n`
  process.stderr.write(
    `${problem}usage: node infra/boot.mjs <command> [arguments]\n${lines.join('\n')}\n`,
  )
  return 2
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const trouble = machineTrouble(error)
  const isKnown = error instanceof SetupError || error.code === 'BATON_LOCK_BUSY'
  if (!isKnown && trouble === undefined) throw error
  const output = error.output ? `${error.output}\n\n` : ''
  const message = isKnown ? error.message : `${trouble.message} (${trouble.code})`
  const fixes = [error.fix, trouble?.fix].filter(Boolean).map((fix) => `  ${fix}\n`)
  process.stderr.write(`${output}baton: ${message}\n${fixes.join('')}`)
  process.exitCode = 1
}
