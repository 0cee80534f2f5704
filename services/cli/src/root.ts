// Where this command line stands, and whether that is a checkout or a package that was installed. Nothing is loaded with it.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout this command line belongs to, or the installed package, which is laid out as a checkout is. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** A package is built: Node runs no TypeScript that was installed. */
const ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
export const IS_CHECKOUT = ENDING === '.ts'

/** The module at this place below the root, named without its ending. */
export const moduleAt = (...place: readonly string[]): string => join(ROOT, ...place) + ENDING

/** Where processes are started, and relative paths in settings begin. */
export const WORKING_FOLDER = IS_CHECKOUT ? ROOT : process.cwd()

/** The embedded instance of whoever names none: that of the checkout, or of the folder in which somebody works. */
export const OWN_HOME = join(WORKING_FOLDER, '.baton')

/** The folder whose `node_modules` holds what this command line runs on. */
export function installedIn(): string {
  if (IS_CHECKOUT) return ROOT
  const at = ROOT.lastIndexOf(`${join('node_modules', '@baton')}`)
  return at === -1 ? dirname(ROOT) : ROOT.slice(0, at)
}
