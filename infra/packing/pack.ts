// Packs what is public as programs outside this checkout install it: modules and declarations with the workspace inside, and
// every library a dependency. Nothing that is packed asks for a package that is not public.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { OutputChunk } from 'rolldown'
import { bundleProgram } from './bundle-program.ts'
import { bundleCode, bundleTypes, fileOf, namesNodeTypes } from './bundle.ts'
import { emitDeclarations } from './declarations.ts'
import type { PublicPackage } from './public-packages.ts'
import { ENGINES, rangeOf } from './public-packages.ts'
import { closureOf, isOurs, readManifest, ROOT } from './workspace.ts'

const run = promisify(execFile)

export interface Packed {
  readonly manifest: PackedManifest
  readonly tarball: string
}

/** As npm shows it. */
export type PackedManifest = ReturnType<typeof manifestOf>

interface PackOptions {
  /** Where the tarballs go. */
  readonly target: string
  /** Where the sources of this release are, for who looks at the package; npm wants it for provenance. */
  readonly repository?: string | undefined
}

/** In the order of `packages`. */
export async function pack(
  packages: readonly PublicPackage[],
  { target, repository }: PackOptions,
): Promise<readonly Packed[]> {
  const work = await mkdtemp(join(tmpdir(), 'baton-packing-'))
  try {
    await mkdir(target, { recursive: true })
    const declarations = join(work, 'declarations')
    const typed = packages.filter(({ entries }) => entries.length > 0)
    const folders = new Set(typed.flatMap((told) => [...foldersOf(told)]))
    await emitDeclarations([...folders], declarations)
    const made = await Promise.allSettled(
      packages.map(async (told) => {
        const folder = join(work, told.name)
        const manifest = await writePackage(told, { folder, declarations, repository })
        return { manifest, tarball: await packFolder(folder, target) }
      }),
    )
    return made.map((one) => {
      if (one.status === 'rejected') throw one.reason as Error
      return one.value
    })
  } finally {
    await rm(work, { recursive: true })
  }
}

const foldersOf = ({ name, asksFor }: PublicPackage): Iterable<string> =>
  closureOf(name, asksFor).values()

async function packFolder(folder: string, target: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target]
  const { stdout } = await run('npm', args, { cwd: folder })
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[]
  return join(target, packed?.filename ?? '')
}

interface Work {
  readonly folder: string
  readonly declarations: string
  readonly repository: string | undefined
}

async function writePackage(told: PublicPackage, work: Work): Promise<PackedManifest> {
  const { folder, declarations } = work
  const dist = join(folder, 'dist')
  const code = textOf(
    told.program === undefined ? await bundleCode(told, dist) : await bundleProgram(told, folder),
  )
  const types = told.entries.length === 0 ? '' : textOf(await bundleTypes(told, dist, declarations))
  const manifest = manifestOf(told, { code, types, repository: work.repository })
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  for (const name of TOLD)
    await copyFile(join(ROOT, told.folder, name), join(folder, name)).catch(() => {
      throw new Error(`${told.folder} has no ${name}; every public package has one`)
    })
  for (const [place, source] of Object.entries(told.files ?? {})) {
    await mkdir(dirname(join(folder, place)), { recursive: true })
    await copyFile(join(ROOT, source), join(folder, place))
  }
  return manifest
}

/** What tells of a package, and npm shows. */
const TOLD = ['README.md', 'CHANGELOG.md']

const textOf = (chunks: readonly OutputChunk[]): string => chunks.map(({ code }) => code).join('\n')

interface Built {
  readonly code: string
  readonly types: string
  readonly repository: string | undefined
}

function manifestOf(told: PublicPackage, { code, types, repository }: Built) {
  const { version, license } = readManifest(join(ROOT, told.folder))
  const { peerDependencies, peerDependenciesMeta } = peersOf(told, types)
  return {
    name: told.name,
    version,
    description: told.description,
    keywords: told.keywords,
    license,
    ...(repository === undefined ? {} : { repository: { type: 'git', url: repository } }),
    type: 'module',
    engines: ENGINES,
    sideEffects: told.program !== undefined,
    exports: {
      ...Object.fromEntries(told.entries.map((entry) => [entry, exported(fileOf(entry))])),
      './package.json': './package.json',
    },
    ...(told.bin === undefined ? {} : { bin: told.bin }),
    files: filesOf(told),
    dependencies: dependenciesOf(told, { code, types }),
    // What `new agent` writes is checked with it.
    ...(told.program === undefined
      ? {}
      : { devDependencies: { typescript: installedVersion(ROOT, 'typescript') } }),
    ...(Object.keys(peerDependencies).length === 0
      ? {}
      : { peerDependencies, peerDependenciesMeta }),
    publishConfig: { access: 'public', provenance: true },
  }
}

const filesOf = ({ program, files = {} }: PublicPackage): readonly string[] => [
  ...(program === undefined
    ? ['dist']
    : ['chunks', ...program.modules.map((path) => path.replace(/\.ts$/, '.js')), ...program.reads]),
  'CHANGELOG.md',
  ...Object.keys(files),
]

const exported = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })

/** Those of the libraries that the code names, and the types of those that the declarations name. */
function dependenciesOf(
  told: PublicPackage,
  { code, types }: Pick<Built, 'code' | 'types'>,
): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of told.asksFor ?? [])
    if (named(code, name) || named(types, name))
      found[name] = rangeOf(readManifest(join(ROOT, 'packages/sdk')).version, told)
  for (const folder of foldersOf(told)) {
    const { dependencies = {}, devDependencies = {} } = readManifest(folder)
    const wanted = [
      ...Object.keys(dependencies).filter((name) => !isOurs(name) && named(code, name)),
      ...Object.keys(devDependencies).filter(
        (name) => name.startsWith('@types/') && named(types, name.slice('@types/'.length)),
      ),
    ]
    for (const name of wanted) found[name] = rangeOf(installedVersion(folder, name), told)
  }
  return Object.fromEntries(
    Object.entries(found).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}

const named = (text: string, name: string): boolean => new RegExp(`["'\`]${name}["'/\`]`).test(text)

const installedVersion = (folder: string, name: string): string => {
  const own = join(folder, 'node_modules', name)
  return readManifest(existsSync(own) ? own : join(ROOT, 'node_modules', name)).version
}

/** The framework that an adapter is for, and the types of Node, which a project without TypeScript does without. */
function peersOf({ folder }: PublicPackage, types: string) {
  const { peerDependencies = {} } = readManifest(join(ROOT, folder))
  const outside = Object.entries(peerDependencies).filter(([name]) => !isOurs(name))
  const withNode = namesNodeTypes(types)
  return {
    peerDependencies: {
      ...Object.fromEntries(outside),
      ...(withNode ? { '@types/node': '>=22' } : {}),
    },
    peerDependenciesMeta: withNode ? { '@types/node': { optional: true } } : {},
  }
}
