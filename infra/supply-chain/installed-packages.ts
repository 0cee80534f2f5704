// What pnpm has installed in this checkout, read from the packages themselves and not from what a registry says of them.
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../setup-step.mjs'

export interface InstalledPackage {
  readonly name: string
  readonly version: string
  /** An SPDX expression; undefined where the package names none. */
  readonly licence: string | undefined
  /** Whether installing it would run code of its own. */
  readonly hasInstallScript: boolean
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string | { readonly type?: string }
  /** The form of before 2014. */
  readonly licenses?: readonly { readonly type?: string }[]
  readonly scripts?: Readonly<Record<string, string>>
}

const STORE = join(ROOT, 'node_modules', '.pnpm')
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

/** All of them, by name. */
export function installedPackages(): readonly InstalledPackage[] {
  const folders = readdirSync(STORE).flatMap((entry) =>
    packagesIn(join(STORE, entry, 'node_modules')),
  )
  const packages = folders.map((folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    const { name, version, scripts = {} } = manifest
    const isBuilt = existsSync(join(folder, 'binding.gyp'))
    return {
      name,
      version,
      licence: licenceOf(manifest),
      hasInstallScript: isBuilt || INSTALL_SCRIPTS.some((script) => script in scripts),
    }
  })
  const once = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]))
  return [...once.values()].toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}

/** Beside a package stand links to what it depends on; it alone is a folder. */
function packagesIn(modules: string): readonly string[] {
  if (!existsSync(modules)) return []
  const found = readdirSync(modules).flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(modules, name)).map((own) => join(modules, name, own))
      : [join(modules, name)],
  )
  return found.filter(
    (folder) => lstatSync(folder).isDirectory() && existsSync(join(folder, 'package.json')),
  )
}

function licenceOf({ license, licenses }: Manifest): string | undefined {
  if (typeof license === 'string') return license
  return license?.type ?? licenses?.map(({ type }) => type).join(' AND ')
}
