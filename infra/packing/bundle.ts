// Bundles a package's sources into modules and declarations, with the workspace inside and every library outside.
import { dirname, join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import type { OutputChunk, Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import type { PublicPackage } from './public-packages.ts'
import { TARGET } from './public-packages.ts'
import { asTypedOutside } from './typed-outside.ts'
import { folderOf, isOurs, readManifest, ROOT, sourceOf } from './workspace.ts'

/** The file in `dist/` that an entry of the exports becomes, without its ending. */
export const fileOf = (entry: string): string =>
  entry === '.' ? 'index' : entry.slice('./'.length)

/** The sources of the entries, by the file that each becomes. */
function entriesOf({ name, entries }: PublicPackage): Record<string, string> {
  const { exports = {} } = readManifest(folderOf(name))
  return Object.fromEntries(
    entries.map((entry) => {
      const target = exports[entry]
      if (target === undefined) throw new Error(`${name} exports no ${entry}`)
      return [fileOf(entry), join(folderOf(name), target)]
    }),
  )
}

const isAskedFor = (source: string, { asksFor = [] }: PublicPackage): boolean =>
  asksFor.some((name) => source === name || source.startsWith(`${name}/`))

/** Finds the workspace's modules, as sources or as the declarations in `declarations`; every other package stays outside. */
function workspace(told: PublicPackage, declarations?: string): Plugin {
  const placed = (path: string): string =>
    declarations === undefined ? path : declarationOf(path, declarations)
  return {
    name: 'workspace',
    resolveId: {
      order: 'pre',
      handler(source, importer) {
        if (isAskedFor(source, told)) return { id: source, external: true }
        if (isOurs(source)) return placed(sourceOf(source))
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

const declarationOf = (path: string, declarations: string): string =>
  join(declarations, path.slice(ROOT.length)).replace(/\.ts$/, '.d.ts')

/** Threads are named by their source file; in a package they are built as well. */
const outside = (threads: readonly string[]): Plugin => ({
  name: 'outside',
  renderChunk: (code) =>
    threads.reduce(
      (text, name) => text.replaceAll(`"${name}.ts"`, `"${name}.js"`),
      asTypedOutside(code),
    ),
})

export async function bundleCode(
  told: PublicPackage,
  dir: string,
): Promise<readonly OutputChunk[]> {
  const threads = Object.entries(told.threads ?? {}).map(([name, path]) => [name, join(ROOT, path)])
  const build = await rolldown({
    input: { ...entriesOf(told), ...Object.fromEntries(threads) },
    platform: told.runsAnywhere ? 'neutral' : 'node',
    plugins: [workspace(told), outside(Object.keys(told.threads ?? {}))],
    tsconfig: false,
    transform: { target: TARGET },
    // That a module is loaded late matters to the checkout only.
    checks: { ineffectiveDynamicImport: false, pluginTimings: false },
  })
  const { output } = await build.write({ dir, format: 'esm', chunkFileNames: '[name].js' })
  await build.close()
  return output.filter((file) => file.type === 'chunk')
}

/** Also where a project names no types of its own. */
const NODE_TYPES = '/// <reference types="node" />\n'
export const namesNodeTypes = (declarations: string): boolean =>
  /["']node:|\bBuffer\b|\bNodeJS\./.test(declarations)

const nodeTypesReferred: Plugin = {
  name: 'node types',
  renderChunk: (code) => (namesNodeTypes(code) ? NODE_TYPES + code : null),
}

export async function bundleTypes(
  told: PublicPackage,
  dir: string,
  declarations: string,
): Promise<readonly OutputChunk[]> {
  const entries = Object.entries(entriesOf(told)).map(([file, path]) => [
    file,
    declarationOf(path, declarations),
  ])
  const build = await rolldown({
    input: Object.fromEntries(entries) as Record<string, string>,
    plugins: [
      workspace(told, declarations),
      dts({ dtsOnly: true, tsconfig: false, generator: 'oxc' }),
      nodeTypesReferred,
    ],
    checks: { pluginTimings: false },
  })
  const { output } = await build.write({ dir, format: 'esm', chunkFileNames: '[name].d.ts' })
  await build.close()
  return output.filter((file) => file.type === 'chunk')
}
