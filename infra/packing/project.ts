// An empty project outside this checkout, in which packages are installed as whoever uses them does it, checked and run.
import { execFile, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { COMPILER } from './declarations.ts'
import { commandsOf, examplesOf } from './examples.ts'
import type { Commands, Example } from './examples.ts'
import type { Packed } from './pack.ts'
import { openRegistry } from './registry.ts'
import type { Source } from './registry.ts'

const run = promisify(execFile)
const RUN_MAX_MS = 60_000
const UP_MAX_MS = 90_000

export interface Project {
  readonly folder: string
  /** What the pages and the skills of the installed packages show, each in a file of its own here. */
  readonly examples: readonly Example[]
  /** The commands that those pages have typed, once a Baton runs. */
  readonly commands: readonly Commands[]
  remove(): Promise<void>
}

/** Rejects where npm refuses, with what it says. */
export async function openProject(
  packed: readonly Packed[],
  { source }: { readonly source: Source },
): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-outside-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    await install(folder, packed, source)
    const pages = await Promise.all(
      packed.map(async ({ manifest }) => readExamples(folder, manifest.name)),
    )
    const examples = pages.flatMap((page) => page.examples)
    const commands = pages.flatMap((page) => page.commands)
    for (const { name, program } of examples) await writeFile(join(folder, name), program)
    return { folder, examples, commands, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function install(folder: string, packed: readonly Packed[], source: Source): Promise<void> {
  const registry = await openRegistry(packed, source)
  try {
    const names = packed.map(({ manifest: { name, version } }) => `${name}@${version}`)
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    // What this checkout has is packed otherwise than what npm has in store for everybody.
    const cache = source === 'npm' ? [] : ['--cache', join(folder, '.npm')]
    const args = [
      'install',
      '--registry',
      registry.url,
      ...cache,
      ...flags,
      ...names,
      '@types/node',
    ]
    await run('npm', args, { cwd: folder })
  } finally {
    await registry.close()
  }
}

async function readExamples(folder: string, name: string) {
  const installed = join(folder, 'node_modules', name)
  const pages = globSync(['README.md', 'skills/*/SKILL.md'], { cwd: installed })
  const texts = await Promise.all(
    pages.toSorted().map((page) => readFile(join(installed, page), 'utf8')),
  )
  const page = texts.join('\n')
  return { examples: examplesOf(name, page), commands: commandsOf(name, page) }
}

/** Those of the compiler that catch most. Nothing of a library is left out. */
const STRICT = {
  target: 'es2022',
  lib: ['es2022', 'esnext.disposable'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  noEmit: true,
}

const RESOLUTIONS = {
  nodenext: { module: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}
export type Resolution = keyof typeof RESOLUTIONS

/** What the compiler says of the examples and of our declarations; empty where it has nothing to say. Others answer for theirs. */
export async function checkTypes(
  { folder, examples }: Project,
  resolution: Resolution,
): Promise<string> {
  const file = join(folder, `tsconfig.${resolution}.json`)
  const compilerOptions = { ...STRICT, ...RESOLUTIONS[resolution] }
  const files = examples.map(({ name }) => name)
  await writeFile(file, JSON.stringify({ compilerOptions, files }))
  const said = await run(process.execPath, [COMPILER, '-p', file], { cwd: folder }).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  const ofOthers = /^node_modules\/(?!@baton\/)/
  return said
    .split(/\n(?! )/)
    .filter((finding) => !ofOthers.test(finding))
    .join('\n')
    .trim()
}

/** A Baton on this machine, started by the command line that the project has installed, and what a program needs to join it. */
export interface RunningBaton {
  readonly env: NodeJS.ProcessEnv
  stop(): Promise<void>
}

/** Types the first command of the command line's page. Rejects with what it said where it does not come up. */
export async function startBaton(
  { folder }: Pick<Project, 'folder'>,
  node = process.execPath,
): Promise<RunningBaton> {
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH']}` }
  const args = ['@baton/cli', 'up', '--no-redis', '--reviews', '1']
  // A group of its own, that a signal reaches whole as Ctrl-C does.
  const up = spawn('npx', args, { cwd: folder, env, detached: true })
  const ended = new Promise<void>((resolve) => up.once('close', () => resolve()))
  async function stop(): Promise<void> {
    if (up.exitCode === null) process.kill(-(up.pid ?? 0), 'SIGTERM')
    await ended
  }
  let said = ''
  const isUp = new Promise<void>((resolve) => {
    for (const stream of [up.stdout, up.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
        if (said.includes('Baton is up')) resolve()
      })
  })
  const late = AbortSignal.timeout(UP_MAX_MS)
  const tooLate = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve()))
  await Promise.race([isUp, ended, tooLate])
  try {
    if (!said.includes('Baton is up'))
      throw new Error(`npx @baton/cli up did not come up:\n${said}`)
    const { stdout } = await run('npx', ['@baton/cli', 'env', '--json'], { cwd: folder, env })
    return { env: { ...env, ...(JSON.parse(stdout) as NodeJS.ProcessEnv) }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** What it prints. Rejects where it ends with anything but 0, with what it said. */
export async function runExample(
  { folder }: Pick<Project, 'folder'>,
  { name }: Pick<Example, 'name'>,
  { node = process.execPath, env = process.env } = {},
): Promise<string> {
  const { stdout } = await run(node, [name], { cwd: folder, env, timeout: RUN_MAX_MS })
  return stdout
}
