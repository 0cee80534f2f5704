// The command line's process: reads the environment, hears signals, ends with the command's exit code.
import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import type { Context } from './context.ts'
import { EXIT } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import type { GlobalOptions } from './program.ts'
import { OWN_HOME } from './root.ts'
import type { Output } from './terminal/output.ts'

// Most of the time of a short command is the compiling of what it loads, so that is kept; where NODE_COMPILE_CACHE says so, there.
if (existsSync(OWN_HOME)) enableCompileCache(join(OWN_HOME, 'compile-cache'))
// Nothing that was loaded before is kept.
const { asksForJson, runProgram } = await import('./program.ts')
const { describeError, failureLine } = await import('./terminal/describe-error.ts')

// Who exports it says how wide the terminal is to be taken for.
const columns = Number(process.env['COLUMNS'])
if (process.stdout.isTTY && Number.isInteger(columns) && columns > 0)
  process.stdout.columns = columns

const interruption = new AbortController()

// The first signal lets the command stop in order; a second one ends at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (interruption.signal.aborted) process.exit(EXIT.interrupted)
    interruption.abort()
  })
}

// A reader such as `head` that closes the pipe has what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.fine)
})

// What no command caught ends it with words as well; servers and services are left in order of the exit.
process.on('uncaughtException', (error) => {
  const exitCode = tell(error)
  process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)))
})

/** Of the command that runs; none before its arguments are read. */
let output: Output | undefined

async function openContext(globals: GlobalOptions): Promise<Context> {
  const { readContext } = await import('./read-context.ts')
  const context = readContext(globals, {
    streams: process,
    environment: process.env,
    interrupt: interruption.signal,
  })
  output = context.output
  return context
}

/**
 * In words on stderr; with --json also as one object on stdout, in place of the data. Where the data stands there already, it stays the
 * one document: what went wrong afterwards is told by the words and the exit code.
 */
function tell(error: unknown): ExitCode {
  const { text, failure, exitCode } = describeError(error)
  if (asksForJson(process.argv.slice(2)) && output?.hasAnswered() !== true)
    process.stdout.write(failureLine(failure))
  if (output === undefined) process.stderr.write(`${text}\n`)
  else output.words(text)
  return exitCode
}

async function main(): Promise<number> {
  try {
    return await runProgram(process.argv.slice(2), {
      openContext,
      writeOut: (text) => process.stdout.write(text),
      writeError: (text) => process.stderr.write(text),
    })
  } catch (error) {
    return tell(error)
  }
}

const exitCode = await main()
// Ends only when everything written has left, also through a slow pipe.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)))
