// The checkout's own text files: what the house rules are about.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface SourceFile {
  /** From the checkout's root, with forward slashes. */
  readonly path: string
  readonly text: string
}

const TOP_FOLDERS = ['packages', 'services', 'schemas', 'infra', 'examples', 'test'] as const
const SKIPPED = new Set(['node_modules', 'generated', 'dist', '.turbo', '.astro'])
/** Files that are wrong on purpose. */
const SCHEMA_FIXTURES = join(ROOT, 'schemas', 'fixtures')

/** Every file under the top folders, and those at the root, whose name ends in one of `endings`. */
export function sourceFiles(...endings: readonly string[]): readonly SourceFile[] {
  const nested = TOP_FOLDERS.flatMap((folder) => walk(join(ROOT, folder)))
  const top = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(ROOT, entry.name))
  return [...top, ...nested]
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .map((path) => ({
      path: relative(ROOT, path).replaceAll('\\', '/'),
      text: readFileSync(path, 'utf8'),
    }))
}

function walk(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (path === SCHEMA_FIXTURES) return []
    return entry.isDirectory() ? walk(path) : [path]
  })
}
