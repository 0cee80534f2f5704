// Packs the SDK as a program outside this checkout installs it: one file of JavaScript modules and declarations each way in,
// with the workspace inside and every library a dependency of the version that is tested here.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import type { OutputChunk, Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const ROOT = resolve(HERE, '..', '..')
/** What a program imports, by the name of its file. */
const ENTRIES = { index: 'src/index.ts', sw4rm: 'src/sw4rm.ts' }
/** A thread is a module of its own, which nothing imports. */
const THREADS = { 'large-work-thread': join(ROOT, 'packages/engine/src/large-work-thread.ts') }
/** The oldest that it is tried on. */
const ENGINES = { node: '>=22.19' }
const TARGET = 'node22'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly exports?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

const folderOf = (name: string): string => {
  const own = name.replace('@baton/', '')
  return own === 'schemas' ? join(ROOT, own) : join(ROOT, 'packages', own)
}

const isOurs = (name: string): boolean => name.startsWith('@baton/')

/** The folders of the SDK and of every package of the workspace that it needs. */
function closure(name: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(name)) return found
  const folder = folderOf(name)
  found.set(name, folder)
  for (const next of Object.keys(readManifest(folder).dependencies ?? {}))
    if (isOurs(next)) closure(next, found)
  return found
}

const run = promisify(execFile)

/** Declarations of every source file, in the folders that they have in the checkout. The gate has checked the types. */
async function emitDeclarations(folders: Iterable<string>, outDir: string): Promise<void> {
  const config = join(outDir, 'tsconfig.json')
  const sources = [...folders]
    .map((folder) => join(folder, 'src'))
    .filter((path) => existsSync(path))
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    noCheck: true,
    rootDir: ROOT,
    outDir,
    typeRoots: [join(ROOT, 'node_modules/@types')],
  }
  const exclude = sources.map((folder) => join(folder, '**/*.test.ts'))
  const settings = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions,
    include: sources,
    exclude,
  }
  await writeFile(config, JSON.stringify(settings))
  const tsc = join(
    dirname(createRequire(join(ROOT, 'x')).resolve('typescript/package.json')),
    'bin/tsc',
  )
  await run(process.execPath, [tsc, '-p', config])
}

/** Finds the workspace's modules, as sources or as the declarations in `declarations`; every other package stays a dependency. */
function workspace(declarations?: string): Plugin {
  const placed = (path: string): string =>
    declarations === undefined
      ? path
      : join(declarations, path.slice(ROOT.length)).replace(/\.ts$/, '.d.ts')
  return {
    name: 'workspace',
    resolveId: {
      order: 'pre',
      handler(source, importer) {
        if (isOurs(source)) {
          const [scope, name, ...rest] = source.split('/')
          const folder = folderOf(`${scope}/${name}`)
          const { exports = {} } = readManifest(folder)
          const path = rest.join('/')
          const target = exports[path === '' ? '.' : `./${path}`] ?? path
          return placed(join(folder, target))
        }
        if (
          importer !== undefined &&
          declarations !== undefined &&
          /^\.{1,2}\/.*(?<!\.d)\.ts$/.test(source)
        )
          return resolve(dirname(importer), source).replace(/\.ts$/, '.d.ts')
        return /^[./]/.test(source) ? undefined : { id: source, external: true }
      },
    },
  }
}

const inputs = (root: string, ending: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(ENTRIES).map(([name, path]) => [
      name,
      join(root, path.replace(/\.ts$/, ending)),
    ]),
  )

/** Threads are named by their source file; here they are built as well. */
const threadsBuilt: Plugin = {
  name: 'threads',
  renderChunk: (code) =>
    Object.keys(THREADS).reduce(
      (text, name) => text.replaceAll(`"${name}.ts"`, `"${name}.js"`),
      code,
    ),
}

async function bundleCode(dir: string): Promise<readonly OutputChunk[]> {
  const build = await rolldown({
    input: { ...inputs(HERE, '.ts'), ...THREADS },
    platform: 'node',
    plugins: [workspace(), threadsBuilt],
    tsconfig: false,
    transform: { target: TARGET },
    // That a module is loaded late matters to the checkout only.
    checks: { ineffectiveDynamicImport: false },
  })
  const { output } = await build.write({ dir, format: 'esm', chunkFileNames: '[name].js' })
  await build.close()
  return output.filter((file) => file.type === 'chunk')
}

async function bundleTypes(dir: string, declarations: string): Promise<readonly OutputChunk[]> {
  const build = await rolldown({
    input: inputs(join(declarations, 'packages/sdk'), '.d.ts'),
    plugins: [workspace(declarations), dts({ dtsOnly: true, tsconfig: false, generator: 'oxc' })],
  })
  const { output } = await build.write({
    dir,
    format: 'esm',
    chunkFileNames: '[name].d.ts',
    // Also where a project names no types of its own.
    banner: '/// <reference types="node" />',
  })
  await build.close()
  return output.filter((file) => file.type === 'chunk')
}

/** Those of the libraries that the code names, and the types of those that the declarations name, in the versions that are installed here. */
function dependenciesOf(
  folders: Iterable<string>,
  { code, types }: { readonly code: string; readonly types: string },
): Record<string, string> {
  const found: Record<string, string> = {}
  const names = (text: string, name: string): boolean =>
    new RegExp(`["'\`]${name}["'/\`]`).test(text)
  for (const folder of folders) {
    const { dependencies = {}, devDependencies = {} } = readManifest(folder)
    const wanted = [
      ...Object.keys(dependencies).filter((name) => !isOurs(name) && names(code, name)),
      ...Object.keys(devDependencies).filter(
        (name) => name.startsWith('@types/') && names(types, name.slice('@types/'.length)),
      ),
    ]
    for (const name of wanted)
      found[name] = readManifest(join(folder, 'node_modules', name)).version
  }
  return Object.fromEntries(
    Object.entries(found).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}

const exported = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })

/** Writes the package into `folder`; the tarball is what npm makes of it. */
async function writePackage(folder: string): Promise<void> {
  const folders = [...closure('@baton/sdk').values()]
  const declarations = join(folder, 'declarations')
  await mkdir(declarations)
  await emitDeclarations(folders, declarations)
  const dist = join(folder, 'dist')
  const chunks = await bundleCode(dist)
  const typed = await bundleTypes(dist, declarations)
  await rm(declarations, { recursive: true })
  const textOf = (all: readonly OutputChunk[]) => all.map(({ code }) => code).join('\n')
  const { name, version, license } = readManifest(HERE)
  const manifest = {
    name,
    version,
    license,
    description: 'Define agents, host them and send handoffs with Baton.',
    type: 'module',
    engines: ENGINES,
    sideEffects: false,
    exports: {
      '.': exported('index'),
      './sw4rm': exported('sw4rm'),
      './package.json': './package.json',
    },
    files: ['dist'],
    dependencies: dependenciesOf(folders, { code: textOf(chunks), types: textOf(typed) }),
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await copyFile(join(HERE, 'README.md'), join(folder, 'README.md'))
}

/** Answers the path of the tarball, in `target`. */
async function pack(target: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-sdk-'))
  try {
    await writePackage(folder)
    await mkdir(target, { recursive: true })
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target]
    const { stdout } = await run('npm', args, { cwd: folder })
    const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[]
    return join(target, packed?.filename ?? '')
  } finally {
    await rm(folder, { recursive: true })
  }
}

process.stdout.write(`${await pack(resolve(process.argv[2] ?? '.'))}\n`)
