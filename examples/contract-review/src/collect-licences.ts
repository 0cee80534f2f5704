// Finds the licence texts of the dependencies that are installed in a pnpm workspace, or in a folder by npm.
import type { Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'

/** One distinct licence text, and the first package that carries it. */
export interface LicenceText {
  readonly package: string
  readonly version: string
  /** Relative to the workspace's root. */
  readonly path: string
  readonly text: string
}

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|unlicen[cs]e)(?:[-.].*)?$/i
const NO_TEXT = /\.(?:js|cjs|mjs|ts|json|html|map)$/i
const BYTES_MAX = 131_072
const TEXTS_MAX = 1_000
const FOLDERS_AT_ONCE = 16

/**
 * The distinct licence texts below `root/node_modules/.pnpm`, or below `root/node_modules` where there is none, ordered by package, version and path, so
 * that the same installation gives the same list. Texts that differ in white space only are one; a
 * different copyright line is a different contract. At most 1,000 texts of at most 128 KiB; a root
 * without installed dependencies gives none.
 */
export async function collectLicences(root: string): Promise<readonly LicenceText[]> {
  const modules = join(root, 'node_modules')
  const stored = await packageFolders(join(modules, '.pnpm'))
  const folders = stored.length > 0 ? stored : await realFolders(modules)
  const found: LicenceText[] = []
  for (let start = 0; start < folders.length; start += FOLDERS_AT_ONCE) {
    const some = folders.slice(start, start + FOLDERS_AT_ONCE)
    found.push(...(await Promise.all(some.map((folder) => licencesOf(root, folder)))).flat())
  }
  return distinct(found.toSorted(compare)).slice(0, TEXTS_MAX)
}

function distinct(texts: readonly LicenceText[]): readonly LicenceText[] {
  const byText = new Map<string, LicenceText>()
  for (const found of texts) {
    const normal = found.text.replaceAll(/\s+/g, ' ').trim()
    if (normal !== '' && !byText.has(normal)) byText.set(normal, found)
  }
  return [...byText.values()]
}

// In code units: the same in every locale.
function compare(a: LicenceText, b: LicenceText): number {
  const [first, second] = [a, b].map((text) => `${text.package}\n${text.version}\n${text.path}`)
  if (first === second) return 0
  return (first ?? '') < (second ?? '') ? -1 : 1
}

/** The folder of each package in the store; links to other packages are left out. */
async function packageFolders(store: string): Promise<readonly string[]> {
  const slots = await entriesOf(store)
  const folders = await Promise.all(
    slots
      .filter((slot) => slot.isDirectory())
      .map(({ name }) => realFolders(join(store, name, 'node_modules'))),
  )
  return folders.flat()
}

async function realFolders(modules: string): Promise<readonly string[]> {
  const entries = (await entriesOf(modules)).filter((entry) => entry.isDirectory())
  const nested = entries
    .filter(({ name }) => name.startsWith('@'))
    .map(({ name }) => realFolders(join(modules, name)))
  const plain = entries.filter(({ name }) => !name.startsWith('@') && !name.startsWith('.'))
  return [...plain.map(({ name }) => join(modules, name)), ...(await Promise.all(nested)).flat()]
}

async function licencesOf(root: string, folder: string): Promise<readonly LicenceText[]> {
  const files = (await entriesOf(folder)).filter(
    (entry) => entry.isFile() && LICENCE_FILE.test(entry.name) && !NO_TEXT.test(entry.name),
  )
  if (files.length === 0) return []
  const { name, version } = await manifestOf(folder)
  const texts = await Promise.all(
    files.map(async (file) => {
      const path = join(folder, file.name)
      const { size } = await stat(path)
      if (size > BYTES_MAX) return []
      return [
        { package: name, version, path: relative(root, path), text: await readFile(path, 'utf8') },
      ]
    }),
  )
  return texts.flat()
}

// A package that says nothing about itself goes by the name of its folder.
async function manifestOf(folder: string): Promise<{ name: string; version: string }> {
  const manifest = await readFile(join(folder, 'package.json'), 'utf8')
    .then(JSON.parse)
    .catch(() => ({}))
  const { name, version } = manifest as { name?: unknown; version?: unknown }
  return {
    name: typeof name === 'string' ? name : basename(folder),
    version: typeof version === 'string' ? version : '0.0.0',
  }
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => [])
}
