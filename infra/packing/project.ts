// An empty project outside this checkout, in which packages are installed as whoever uses them does it, checked and run.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { COMPILER } from './declarations.ts'
import { examplesOf } from './examples.ts'
import type { Example } from './examples.ts'
import type { Packed } from './pack.ts'
import { openRegistry } from './registry.ts'
import type { Source } from './registry.ts'

const run = promisify(execFile)
const RUN_MAX_MS = 60_000

export interface Project {
  readonly folder: string
  /** What the pages of the installed packages show, each in a file of its own here. */
  readonly examples: readonly Example[]
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
    const examples = pages.flat()
    for (const { name, program } of examples) await writeFile(join(folder, name), program)
    return { folder, examples, remove }
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

async function readExamples(folder: string, name: string): Promise<readonly Example[]> {
  const page = await readFile(join(folder, 'node_modules', name, 'README.md'), 'utf8')
  return examplesOf(name, page)
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

/** What the compiler says of the examples; empty where it has nothing to say. */
export async function checkTypes(
  { folder, examples }: Project,
  resolution: Resolution,
): Promise<string> {
  const file = join(folder, `tsconfig.${resolution}.json`)
  const compilerOptions = { ...STRICT, ...RESOLUTIONS[resolution] }
  const files = examples.map(({ name }) => name)
  await writeFile(file, JSON.stringify({ compilerOptions, files }))
  return run(process.execPath, [COMPILER, '-p', file]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
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
