// Bundles a program that is more than modules, such as the command line with all services: each process one module, at the place that it
// has in the checkout, with what they share in `chunks/`; what is read at run time stands where the checkout has it.
import { cp, glob, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import type { OutputChunk, Plugin } from 'rolldown'
import type { PublicPackage } from './public-packages.ts'
import { TARGET } from './public-packages.ts'
import { asTypedOutside } from './typed-outside.ts'
import { isOurs, ROOT, sourceOf } from './workspace.ts'

export interface Program {
  /** Each becomes a module at the same place: what is started, or loaded by its place. */
  readonly modules: readonly string[]
  /** Files and folders that are read at run time. */
  readonly reads: readonly string[]
}

const workspace: Plugin = {
  name: 'workspace',
  resolveId: {
    order: 'pre',
    handler(source) {
      if (isOurs(source)) return sourceOf(source)
      return /^[./]/.test(source) ? undefined : { id: source, external: true }
    },
  },
}

const PLACE = 'baton-place:'
const built = (path: string): string => path.replace(/\.m?ts$/, '.js')

/** What asks where something stands: another package's file, a module beside this one, or this one. */
const PLACES =
  /import\.meta\.resolve\('(@baton\/[^']+)'\)|new URL\('([^'?]+\.ts)(\?[^']*)?', import\.meta\.url\)|import\.meta\.url\b/g

/** A module goes on to find what stands beside its source, whichever file its code ended in. */
const places = (modules: readonly string[]): Plugin => ({
  name: 'places',
  transform(code, id) {
    if (!id.startsWith(ROOT) || !code.includes('import.meta.')) return null
    const own = id.slice(ROOT.length)
    return code.replaceAll(PLACES, (_, resolved?: string, module?: string, query = '') => {
      if (resolved !== undefined) return urlOf(sourceOf(resolved).slice(ROOT.length))
      if (module === undefined) return urlOf(built(own))
      const path = join(dirname(own), module)
      if (modules.includes(path)) return `new URL(${urlOf(built(path) + query)})`
      throw new Error(`${own} loads ${path}, which is no module of its program`)
    })
  },
  renderChunk(code, { fileName }) {
    const up = '../'.repeat(fileName.split('/').length - 1) || './'
    return asTypedOutside(code.replaceAll(PLACE, up))
  },
})

const urlOf = (path: string): string =>
  `new URL(${JSON.stringify(PLACE + path)}, import.meta.url).href`

/** What only the checkout needs of a folder. */
const NOT_READ = /\.test\.ts$|\/(?:package|turbo)\.json$|\/node_modules$/

export async function bundleProgram(
  { program, name, bin = {} }: PublicPackage,
  folder: string,
): Promise<readonly OutputChunk[]> {
  if (program === undefined) throw new Error(`${name} is no program`)
  const { modules, reads } = program
  const build = await rolldown({
    input: Object.fromEntries(
      modules.map((path) => [path.replace(/\.m?ts$/, ''), join(ROOT, path)]),
    ),
    platform: 'node',
    plugins: [workspace, places(modules)],
    tsconfig: false,
    transform: { target: TARGET },
    checks: { ineffectiveDynamicImport: false, pluginTimings: false },
  })
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    banner: ({ fileName }) => (Object.values(bin).includes(fileName) ? '#!/usr/bin/env node' : ''),
  })
  await build.close()
  for (const path of reads) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await cp(join(ROOT, path), join(folder, path), {
      recursive: true,
      filter: (source) => !NOT_READ.test(source),
    })
  }
  for await (const page of glob('infra/**/*.md', { cwd: folder })) {
    const path = join(folder, page)
    await writeFile(path, asTypedOutside(await readFile(path, 'utf8')))
  }
  return output.filter((file) => file.type === 'chunk')
}
