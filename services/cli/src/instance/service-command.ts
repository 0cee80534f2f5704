// A command of a service, run by the command line to its end: its answers and words go to the person, its log lines to its log.
import { spawn } from 'node:child_process'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WORKING_FOLDER } from '../root.ts'
import type { Context, Environment } from '../context.ts'
import { serviceMain } from './services.ts'

interface ServiceCommand {
  readonly service: string
  readonly command: string
  readonly environment: Environment
}

/** Answers the exit code. */
export async function runServiceCommand(
  { output, home }: Pick<Context, 'output' | 'home'>,
  { service, command, environment }: ServiceCommand,
): Promise<number> {
  const args = [serviceMain(service), command, ...(output.json ? ['--json'] : [])]
  const child = spawn(process.execPath, args, {
    cwd: WORKING_FOLDER,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.on('data', (bytes: Buffer) => output.bytes(bytes))
  const said: Buffer[] = []
  child.stderr.on('data', (bytes: Buffer) => said.push(bytes))
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (ended) => resolve(ended ?? 1))
  })
  const lines = Buffer.concat(said)
    .toString()
    .split('\n')
    .filter((line) => line !== '')
  const [logged, words] = [lines.filter(isLogged), lines.filter((line) => !isLogged(line))]
  await appendFile(join(home, 'logs', `${service}.log`), logged.map((line) => `${line}\n`).join(''))
  if (words.length > 0) output.words(words.join('\n'))
  return code
}

const isLogged = (line: string): boolean => line.startsWith('{')
