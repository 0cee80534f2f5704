// Runs one script of the benchmark as a process of its own and reads its last line as JSON.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

interface ScriptOptions {
  /** Handed over as JSON in the first argument. */
  readonly argument: object
  readonly env?: Readonly<Record<string, string>>
  /** Called at the line `ready`. */
  readonly onReady?: () => void
}

/** Resolves with the script's last line of stdout; rejects with its output when it fails. */
export function runScript<Result>(script: string, options: ScriptOptions): Promise<Result> {
  const child = spawn(process.execPath, [script, JSON.stringify(options.argument)], {
    cwd: ROOT,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (stdout === '' && text.startsWith('ready')) options.onReady?.()
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      const last = stdout.trim().split('\n').at(-1) ?? ''
      if (code === 0) resolve(JSON.parse(last) as Result)
      else reject(new Error(`${script} ended with ${code}\n${stdout}${stderr}`))
    })
  })
}
