// Types what the page of a new agent says into two terminals, as somebody would who has just read it.
import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { installPackedSdk } from '@baton/testkit'

const run = promisify(execFile)
const SENT_MAX_MS = 60_000

export interface Typed {
  /** What the second terminal showed. */
  readonly sent: string
  /** What the audit log tells of the task. */
  readonly trace: string
  /** What the first terminal showed. */
  readonly agent: string
}

/** In TypeScript `npm install` is done without a registry. */
export async function typePage(folder: string): Promise<Typed> {
  const page = await readFile(join(folder, 'README.md'), 'utf8')
  const [first = '', second = '', third = ''] = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block = '']) => block,
  )
  if (first.includes('npm install\n')) {
    await installPackedSdk(join(folder, 'baton-sdk-0.1.0.tgz'), folder)
    await checkTypes(folder)
  }
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const options = { cwd: folder, env }
  // A group of its own, that a signal reaches whole as Ctrl-C does.
  const agent = spawn('sh', ['-ec', first.replace('npm install\n', '')], {
    ...options,
    detached: true,
  })
  let shown = ''
  for (const stream of [agent.stdout, agent.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (shown += text))
  const ended = new Promise((resolve) => agent.once('close', resolve))
  try {
    const { stdout } = await run('sh', ['-ec', second], { ...options, timeout: SENT_MAX_MS })
    const taskId = /^task (\S+) is durable$/m.exec(stdout)?.[1] ?? ''
    const asked = third.replace('TASK', taskId)
    const trace = await run('sh', ['-ec', asked], { ...options, timeout: SENT_MAX_MS })
    return { sent: stdout, trace: trace.stdout, agent: shown }
  } finally {
    process.kill(-(agent.pid ?? 0), 'SIGTERM')
    await ended
  }
}

/** `npm run check`, by the compiler of this checkout. Rejects with what it finds. */
async function checkTypes(folder: string): Promise<void> {
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
  await run(process.execPath, [join(dirname(compiler), 'bin/tsc'), '-p', folder])
}
