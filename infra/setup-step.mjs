// How set-up runs a tool: quietly, with progress on stderr, and with what the tool said when it failed.
import { spawn, spawnSync } from 'node:child_process'
import { accessSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
export const STATE = join(ROOT, '.baton')
/** The machine as npm packages of binaries name it, for example linux-x64. */
export const HOST = `${process.platform}-${process.arch}`

/** What went wrong during set-up and how to mend it; `output` is what the failed tool said. */
export class SetupError extends Error {
  constructor(message, { fix, output = '' }) {
    super(message)
    this.fix = fix
    this.output = output
  }
}

/** True when the command is there and runs. */
export function works(command) {
  return existsSync(command) && spawnSync(command, ['--version'], { cwd: ROOT }).status === 0
}

/** What a command that is there says where it does not run, such as which library it misses; empty where it runs or is not there. */
export function whyNot(command) {
  if (!existsSync(command)) return ''
  const { status, stderr, error } = spawnSync(command, ['--version'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return status === 0 ? '' : (stderr || error?.message || 'it does not run').trim()
}

/** True when this user may do to the path what `mode` says (`constants.W_OK` and so on). */
export function allows(path, mode) {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Runs a tool without a terminal and keeps what it says for the case that it fails. */
export async function capture({ command, args, env }) {
  return await new Promise((resolve) => {
    let output = ''
    const child = spawn(command, args, {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: command.endsWith('.cmd'),
    })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    child.once('error', (error) => resolve({ status: 1, output: `${command}: ${error.message}` }))
    child.once('close', (status) => resolve({ status: status ?? 1, output: output.trim() }))
  })
}

/** Announces a step, runs it and says how long it took. */
export async function step(words, action) {
  const startedAt = performance.now()
  say(`  … ${words}`)
  const result = await action()
  say(
    `  ${result?.status ? '✗' : '✓'} ${words} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
  )
  return result
}

export function sayWaiting() {
  say('  … another command is setting up this checkout; waiting for it')
}

function say(words) {
  process.stderr.write(`${words}\n`)
}
