// Ends server processes for sure.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
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

/** The command line of a process; empty when it cannot be known. */
export async function commandLine(pid: number): Promise<string> {
  const fromProc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
  if (fromProc !== null) return fromProc.replaceAll('\0', ' ')
  const listed = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }))
  return listed.stdout
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
