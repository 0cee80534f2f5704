// Why an agents module cannot be imported, for whoever wrote it: the runtime's own words, the place, and how to mend it.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Explained {
  /** What was said, with the place where it is known. */
  readonly because: string
  readonly fix: string
}

const WORDS_MAX = 500

/** `path` is that of the module, or the name of a package. */
export function explainImport(cause: unknown, path: string): Explained {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  const place = placeOf(error)
  const [words = ''] = error.message.split('\n')
  const at = place === undefined ? '' : ` (${place.file}:${place.line})`
  return {
    because: `${error.name}: ${words.slice(0, WORDS_MAX)}${at}`,
    fix: mend(error, path, place),
  }
}

interface Place {
  readonly file: string
  readonly line: number
}

/** What cannot be parsed names its place above its name; what is thrown has it in the first frame that is the author's. */
function placeOf({ stack = '' }: Error): Place | undefined {
  const [first = '', ...rest] = stack.split('\n')
  const above = /^(file:\/\/.+|\/.+|[A-Z]:\\.+):(\d+)$/.exec(first)
  const frame = rest
    .filter((line) => !/\bnode:|[/\\]node_modules[/\\]/.test(line))
    .map((line) => /(file:\/\/\S+?|\/[^\s(]+?):(\d+):\d+\)?$/.exec(line))
    .find((found) => found !== null)
  const [, file, line] = above ?? frame ?? []
  if (file === undefined) return undefined
  return {
    file: file.startsWith('file:') ? fileURLToPath(file) : file,
    line: Number(line),
  }
}

const codeOf = (error: Error): string => String((error as NodeJS.ErrnoException).code ?? '')

function mend(error: Error, path: string, place: Place | undefined): string {
  if (codeOf(error) === 'ERR_MODULE_NOT_FOUND') return mendMissing(error.message, path)
  if (codeOf(error) === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return 'Node takes types away and translates nothing: write a union or an object of constants instead. "erasableSyntaxOnly": true in tsconfig.json finds all such places.'
  if (IS_COMMONJS.test(error.message))
    return `Set "type": "module" in ${manifestOf(place?.file ?? path)}: agents are ES modules. Or end the name of the file in .mts or .mjs.`
  if (error instanceof SyntaxError)
    return 'Mend it there; `npx tsc --noEmit` in its folder finds all such places.'
  return 'That was thrown while the module was loaded: mend it there. What an agent needs only when it works belongs into `execute`.'
}

const IS_COMMONJS =
  /^(?:Cannot use import statement outside a module|Unexpected token 'export'|require is not defined|exports is not defined|module is not defined)/

function mendMissing(message: string, path: string): string {
  const [, kind, missing = '', from = ''] =
    /^Cannot find (package|module) '(.+?)' imported from (.+)$/.exec(message) ?? []
  if (kind === 'package' && from.startsWith('/') && missing !== path)
    return `Install it where the module stands: npm install ${missing}, in ${dirname(manifestOf(from))}.`
  if (missing === path || kind === undefined || missing === '')
    return 'Check BATON_AGENTS: a path to a module, from the folder in which the receiver starts, or the name of an installed package.'
  return `Correct the import in ${from}; the path of a file ends in .ts or .js as the file does.`
}

/** The package.json that holds for a file, or where one is to be made. */
function manifestOf(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (existsSync(manifest)) return manifest
    if (folder === dirname(folder)) return join(dirname(file), 'package.json')
  }
}
