// Ends server processes for sure, and finds a free loopback port for new ones.
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { transient } from '@baton/runtime'
import { isAlive } from '@baton/infra/lock'
import type { Holder } from '@baton/infra/lock'

const run = promisify(execFile)
const POLL_MS = 20

/** One signal and how long the process may take to obey it. */
export interface EndStep {
  readonly signal: NodeJS.Signals
  readonly waitMs: number
}

/**
 * Sends each signal in turn until the process is gone; a later one with its id gets none.
 * Throws BATON_PROCESS_STUCK when none helped.
 */
export async function endProcess(target: Holder, steps: readonly EndStep[]): Promise<void> {
  for (const { signal, waitMs } of steps) {
    if (!isAlive(target) || !sendSignal(target.pid, signal)) return
    if (await settles(() => !isAlive(target), waitMs)) return
  }
  throw transient('BATON_PROCESS_STUCK', `process ${target.pid} did not end`, {
    fix: `End process ${target.pid} yourself, then try again.`,
  })
}

/** Polls `condition` until it holds or `waitMs` have passed; returns its last answer. */
export async function settles(
  condition: () => boolean | Promise<boolean>,
  waitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + waitMs
  for (;;) {
    if (await condition()) return true
    if (performance.now() > deadline) return false
    await delay(POLL_MS)
  }
}

/** Systems give connections their ports from above these, so that none takes a port before it is listened on. */
const PORTS = { from: 10_000, below: 32_768 }
const PORTS_TRIED_MAX = 100

/** A loopback port: `preferred` when it is free, otherwise any that nobody is given by chance. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred
  for (let tried = 0; tried < PORTS_TRIED_MAX; tried += 1) {
    const port = randomInt(PORTS.from, PORTS.below)
    if (await isFree(port)) return port
  }
  throw transient('BATON_NO_FREE_PORT', 'no free port on 127.0.0.1', {
    fix: 'End programs that hold ports on this machine, then try again.',
  })
}

/** The command line of a process; empty when it cannot be known. */
export async function commandLine(pid: number): Promise<string> {
  const fromProc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
  if (fromProc !== null) return fromProc.replaceAll('\0', ' ')
  const listed = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }))
  return listed.stdout
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
