// The command line's process: reads the environment, hears signals, ends with the command's exit code.
import { isAbsolute, join, resolve } from 'node:path'
import { readSettings, secureDatabaseUrls, withFilesRead } from '@baton/runtime'
import { ROOT } from './context.ts'
import type { Context, Environment } from './context.ts'
import { EXIT } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import {
  installationEnvironment,
  readInstallationRecord,
} from './installation/read-installation.ts'
import { readPerson } from './instance/secrets.ts'
import { asOperator } from './instance/instance-tls.ts'
import { withoutPrinted } from './program-environment.ts'
import { asksForJson, runProgram } from './program.ts'
import type { GlobalOptions } from './program.ts'
import { CLI_SETTINGS, HANDED_ON_SETTINGS } from './settings.ts'
import { describeError, failureLine } from './terminal/describe-error.ts'
import { createOutput } from './terminal/output.ts'
import type { Output } from './terminal/output.ts'

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

function openContext({ json = false, home, as: actAs }: GlobalOptions): Context {
  const environment = withoutPrinted(process.env)
  const chosen = home ?? (environment['BATON_HOME'] || join(ROOT, '.baton'))
  const folder = isAbsolute(chosen) ? chosen : resolve(chosen)
  const told: Environment = { ...installationEnvironment(folder, actAs), ...environment }
  // On an installation its folder says who is known; a key of one's own names its owner itself.
  const isOwn = told['BATON_PERSON_KEY'] !== undefined || told['BATON_API_KEY'] !== undefined
  if (actAs !== undefined && !isOwn && readInstallationRecord(folder) === undefined)
    readPerson(actAs)
  const given = secureDatabaseUrls(readSettings(CLI_SETTINGS, told))
  output = createOutput(process, json)
  return {
    output,
    settings: asOperator(given, folder),
    environment: withFilesRead({ ...CLI_SETTINGS, ...HANDED_ON_SETTINGS }, told),
    home: folder,
    actAs,
    interrupt: interruption.signal,
  }
}

/**
 * In words on stderr; with --json also as one object on stdout, in place of the data. Where the data stands there already, it stays the
 * one document: what went wrong afterwards is told by the words and the exit code.
 */
function tell(error: unknown): ExitCode {
  const { text, failure, exitCode } = describeError(error)
  if (asksForJson(process.argv.slice(2)) && output?.hasAnswered() !== true)
    process.stdout.write(failureLine(failure))
  process.stderr.write(`${text}\n`)
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
