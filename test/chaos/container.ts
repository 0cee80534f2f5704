// A process of Baton in a container of its image, locked down as docker-compose.yml does it: killed, paused and ended by the engine.
import { execFile, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { eventually } from '@baton/testkit'
import type { SlotProcess } from './slot.ts'

const runFile = promisify(execFile)

const TESTS = fileURLToPath(new URL('../', import.meta.url))
/** The checkout's tests as a container sees them: the image has none. */
const TESTS_INSIDE = '/baton/test'

/** The campaign's own modules as a process in a container loads them. */
export const MODULES_INSIDE = `file://${TESTS_INSIDE}/chaos/`

/** Who processes run as: the image's own user, or whoever started the campaign where that is not root. */
const isRoot = process.getuid?.() === 0
const USER = isRoot
  ? { uid: 10_001, gid: 10_001 }
  : { uid: process.getuid?.(), gid: process.getgid?.() }

/** As docker-compose.yml has it. */
const LOCKED_DOWN = [
  '--init',
  '--read-only',
  '--tmpfs=/tmp',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--pids-limit=256',
  '--memory=1g',
  `--user=${USER.uid}:${USER.gid}`,
]

/** What the engine itself answers with where it could not start a container. */
const NOT_STARTED = new Set([125, 126, 127])
const STARTED_MAX_MS = 60_000
const KILL_AGAIN_MS = 500
const FROZEN_MAX_MS = 5_000

interface ContainerOptions {
  readonly image: string
  readonly service: string
  /** Of its slot. */
  readonly name: string
  /** Given to it as its file of settings. */
  readonly env: Readonly<Record<string, string>>
  /** What Node itself is told, before any file is read. */
  readonly nodeOptions: string
  /** Seen at the same path inside, and written to. */
  readonly folder: string
  readonly input?: true
  readonly onStdout?: (text: string) => void
}

/** The id of an image. Throws with a remedy where no engine answers that has it. */
export async function imageId(image: string): Promise<string> {
  try {
    return await docker('image', 'inspect', '--format', '{{.Id}}', image)
  } catch (error) {
    throw new Error(
      `no engine answers that has the image ${image}; build it: docker build --file infra/image/Dockerfile --tag ${image} .`,
      { cause: error },
    )
  }
}

const living = new Set<string>()
process.once('exit', () => {
  if (living.size > 0) spawnSync('docker', ['rm', '--force', ...living], { stdio: 'ignore' })
})
let started = 0

/** Resolves once it runs. */
export async function spawnContainer(options: ContainerOptions): Promise<SlotProcess> {
  const { image, service, folder, env } = options
  started += 1
  const name = `baton-chaos-${process.pid}-${options.name}-${started}`
  const settings = writeSettings(env)
  giveTo(folder)
  await docker(
    'create',
    '--rm',
    `--name=${name}`,
    '--network=host',
    '--log-driver=none',
    // Nobody asks for it here, and it takes the processor from eight containers at once.
    '--no-healthcheck',
    ...LOCKED_DOWN,
    `--volume=${settings}:/etc/baton/${service}:ro`,
    `--volume=${folder}:${folder}`,
    `--volume=${TESTS}:${TESTS_INSIDE}:ro`,
    ...certificatesOf(env),
    `--env=NODE_OPTIONS=${options.nodeOptions}`,
    ...(options.input ? ['--interactive'] : []),
    image,
    service,
  )
  living.add(name)
  const attach = options.input ? ['--attach', '--interactive'] : ['--attach']
  const child = spawn('docker', ['start', ...attach, name], {
    stdio: [options.input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  child.once('close', () => {
    living.delete(name)
    rmSync(settings, { recursive: true, force: true })
  })
  const container = watch(child, { ...options, name })
  await eventually(async () => hasEnded(child) || (await isRunning(name)), {
    deadlineMs: STARTED_MAX_MS,
    describe: () => `the container ${name} runs\n${container.output()}`,
  })
  return container
}

function watch(
  child: ChildProcess,
  { name, onStdout }: Pick<ContainerOptions, 'name' | 'onStdout'>,
): SlotProcess {
  let written = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    written += text
    onStdout?.(text)
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (written += text))
  child.stdin?.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const tell = async (...command: readonly string[]): Promise<void> => {
    await docker(...command).catch(unlessItHasEnded)
  }
  async function exited() {
    await closed
    if (NOT_STARTED.has(child.exitCode ?? 0)) throw new Error(`${name} did not start: ${written}`)
    return { code: child.exitCode, signal: child.signalCode }
  }
  return {
    output: () => written,
    write: (text) => void child.stdin?.write(text),
    async signal(wanted) {
      if (wanted === 'SIGSTOP') await freeze(name)
      else if (wanted === 'SIGCONT') await tell('unpause', name)
      else await tell('kill', '--signal', wanted, name)
    },
    exited,
    async kill() {
      while (!hasEnded(child)) {
        await tell('kill', name)
        await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, KILL_AGAIN_MS))])
      }
      await closed
    },
    async stop() {
      await tell('kill', '--signal', 'SIGTERM', name)
      return (await exited()).code
    },
  }
}

/** On a busy machine the older freezer of the kernel gives up: it is asked again. */
async function freeze(name: string): Promise<void> {
  const freezes = async (): Promise<boolean> => {
    try {
      await docker('pause', name)
    } catch (error) {
      if (/unable to freeze/.test(String(error))) throw error
      unlessItHasEnded(error)
    }
    return true
  }
  await eventually(freezes, { deadlineMs: FROZEN_MAX_MS, describe: `${name} is paused` })
}

/** A container may end while it is told something, and one that is not paused needs no waking: a process takes signals in the same way. */
function unlessItHasEnded(error: unknown): void {
  const words = String(error)
  if (!/is not running|no such container|not paused|already paused|in progress/i.test(words))
    throw error
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const isRunning = async (name: string): Promise<boolean> =>
  (await docker('inspect', '--format', '{{.State.Running}}', name)) === 'true'

async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await runFile('docker', args)
  return stdout.trim()
}

/** As `baton init` writes it, read by the image where compose mounts it, and by its user alone. */
function writeSettings(env: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-chaos-settings-'))
  const file = join(folder, 'settings.env')
  const lines = Object.entries(env).map(([name, value]) => `${name}='${value}'\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  giveTo(folder)
  giveTo(file)
  return folder
}

/** The folder of its certificate, key and authority, where it has them. */
function certificatesOf(env: Readonly<Record<string, string>>): readonly string[] {
  const { BATON_TLS_CERT_FILE, BATON_TLS_KEY_FILE } = env
  if (BATON_TLS_CERT_FILE === undefined || BATON_TLS_KEY_FILE === undefined) return []
  giveTo(dirname(BATON_TLS_CERT_FILE))
  giveTo(BATON_TLS_KEY_FILE)
  return [`--volume=${dirname(BATON_TLS_CERT_FILE)}:${dirname(BATON_TLS_CERT_FILE)}:ro`]
}

/** Root still reads and writes what belongs to the user of the image. */
function giveTo(path: string): void {
  if (isRoot) chownSync(path, 10_001, 10_001)
}
