// Runs one program and keeps what it says.
import { spawn } from 'node:child_process'

export interface Ended {
  readonly exitCode: number
  readonly output: string
}

interface How {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly timeoutMs?: number
}

export async function run(program: string, args: readonly string[], how: How): Promise<Ended> {
  const { cwd, env = process.env, timeoutMs } = how
  const child = spawn(program, [...args], {
    cwd,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exitCode = await new Promise<number>((resolve) => {
    child.once('error', (error) => {
      output += error.message
      resolve(127)
    })
    child.once('close', (code) => resolve(code ?? 1))
  })
  return { exitCode, output }
}
