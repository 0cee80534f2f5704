// The packages of this checkout as their manifests say: where each stands, what it exports, and which others it needs.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly exports?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

export const isOurs = (name: string): boolean => name.startsWith('@baton/')

const MANIFESTS = [
  'packages/*/package.json',
  'packages/adapters/*/package.json',
  'services/*/package.json',
  'examples/*/package.json',
  'clients/typescript/package.json',
  'schemas/package.json',
  'infra/package.json',
]

/** By the name of each. */
export const FOLDERS: ReadonlyMap<string, string> = new Map(
  globSync(MANIFESTS, { cwd: ROOT })
    .map((path) => join(ROOT, dirname(path)))
    .map((folder) => [readManifest(folder).name, folder]),
)

export function folderOf(name: string): string {
  const folder = FOLDERS.get(name)
  if (folder === undefined)
    throw new Error(`${name} is imported, and is no package of this checkout`)
  return folder
}

/** The source file behind what is imported as `source`, `@baton/protocol/states` for example. */
export function sourceOf(source: string): string {
  const [scope, name, ...rest] = source.split('/')
  const folder = folderOf(`${scope}/${name}`)
  const path = rest.join('/')
  const target = readManifest(folder).exports?.[path === '' ? '.' : `./${path}`] ?? path
  if (target === '' || !existsSync(join(folder, target)))
    throw new Error(`${source} is imported, and is no export of its package`)
  return join(folder, target)
}

/** The folders of a package and of every package of the workspace that it needs, except those in `without`. */
export function closureOf(
  name: string,
  without: readonly string[] = [],
  found = new Map<string, string>(),
): ReadonlyMap<string, string> {
  if (found.has(name) || without.includes(name)) return found
  const folder = folderOf(name)
  found.set(name, folder)
  const { dependencies = {} } = readManifest(folder)
  for (const next of Object.keys(dependencies).filter(isOurs)) closureOf(next, without, found)
  return found
}
