// Another command that uses an embedded server, and what a command meets whose server is paused.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isAlive } from '@baton/embedded'
import { eventually, pauseTree } from '@baton/testkit'
import { expect } from 'vitest'

export const logger = { info: () => undefined, warn: () => undefined }

/** Twenty seconds of waiting for a used server, ten for a leftover, and the time both may take to end and to start. */
export const PAUSED_MAX_MS = 120_000

/** Runs a program that starts a server and prints a line of JSON, as a process of its own that goes on until it is killed. */
export async function runHolder<Printed>(program: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    cwd: new URL('.', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (text) => (output += text))
  await eventually(() => output.includes('\n'), { deadlineMs: 60_000, describe: 'a server runs' })
  return { child, printed: JSON.parse(output) as Printed }
}

export async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await eventually(() => child.signalCode ?? child.exitCode !== null, {
    deadlineMs: 30_000,
    describe: 'the command is gone',
  })
}

interface Joined {
  stop(): Promise<void>
}

interface World<Member> {
  /** The process that uses the server. */
  readonly holder: ChildProcess
  /** Of the server's instance. */
  readonly recordPath: string
  /** What another command does. */
  join(tell: (words: string) => void): Promise<Member>
}

/** Pauses a used server and has a command come while it is paused, and another one afterwards. */
export async function pauseUsed<Member extends Joined>({
  holder,
  recordPath,
  join,
}: World<Member>) {
  const used = serverIn(recordPath)
  const told: string[] = []
  const resume = await pauseTree(used.pid)
  const refusal = await join((words) => void told.push(words)).then(
    () => null,
    (error: Error & { code?: unknown }) => error,
  )
  const livesPaused = isAlive(used)
  resume()
  await (await join(() => undefined)).stop()
  const both = new RegExp(`process ${used.pid} on port .* does not answer; process ${holder.pid} `)
  return {
    told,
    code: refusal?.code,
    namesBoth: both.test(refusal?.message ?? ''),
    livesPaused,
    isKept: isAlive(used) && serverIn(recordPath).pid === used.pid,
  }
}

export const KEPT = {
  told: [expect.stringMatching(/^Waits for .* Gives up after 20 s/)],
  code: 'BATON_SERVER_SILENT',
  namesBoth: true,
  livesPaused: true,
  isKept: true,
}

/** Kills whoever uses the server, pauses it, and has a command come. */
export async function pauseUnused<Member extends Joined>({
  holder,
  recordPath,
  join,
}: World<Member>) {
  const unused = serverIn(recordPath)
  const told: string[] = []
  await kill(holder)
  await pauseTree(unused.pid)
  const member = await join((words) => void told.push(words))
  const isReplaced = !isAlive(unused) && serverIn(recordPath).pid !== unused.pid
  await member.stop()
  return { told, isReplaced }
}

export const REPLACED = {
  told: [
    expect.stringContaining('no process that used it lives'),
    expect.stringMatching(/^Ended .* a leftover that did not answer/),
  ],
  isReplaced: true,
}

function serverIn(recordPath: string) {
  const record = JSON.parse(readFileSync(recordPath, 'utf8')) as {
    readonly details: { readonly pid: number }
  }
  return { pid: record.details.pid, startedAt: null }
}
