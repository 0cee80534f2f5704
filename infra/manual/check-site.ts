// What was built leads nowhere that is not there: every link, anchor and file of every page, and nothing is asked of another origin.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const ATTRIBUTE = /<([a-z]+)\b[^>]*?\s(?:href|src)="([^"]*)"/g
/** What a browser fetches by itself, as opposed to where a reader may go. */
const FETCHED = new Set(['script', 'img', 'link', 'iframe', 'source', 'video', 'audio'])

export interface SiteFindings {
  readonly pages: number
  readonly links: number
  /** One line for each link that leads nowhere. */
  readonly faults: readonly string[]
}

export function checkSite(folder: string): SiteFindings {
  const pages = globSync('**/*.html', { cwd: folder }).map((path) => path.replaceAll('\\', '/'))
  const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), 'utf8')]))
  const anchors = new Map([...texts].map(([page, text]) => [page, anchorsOf(text)]))
  let links = 0
  const faults = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(ATTRIBUTE)].flatMap(([, tag = '', address = '']) => {
      links += 1
      const why = faultOf({ folder, page, tag, address: unescaped(address) }, anchors)
      return why === undefined ? [] : [`${page}: ${address}: ${why}`]
    }),
  )
  return { pages: pages.length, links, faults: [...new Set(faults)] }
}

interface Link {
  readonly folder: string
  readonly page: string
  readonly tag: string
  readonly address: string
}

function faultOf(
  { folder, page, tag, address }: Link,
  anchors: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  if (/^(?:[a-z]+:|\/\/)/.test(address)) {
    const asked = FETCHED.has(tag) && !address.startsWith('data:')
    return asked ? 'a page asks nobody but its own origin' : undefined
  }
  const [path = '', anchor = ''] = address.split('#')
  const file =
    path === '' ? page : fileOf(posix.join('/', posix.dirname(page), relativeTo(page, path)))
  if (!anchors.has(file)) return existsSync(join(folder, file)) ? undefined : `${file} is not there`
  if (anchor === '' || anchors.get(file)?.has(decodeURIComponent(anchor))) return undefined
  return `${file} has no #${anchor}`
}

/** An address from the root of the site is one from the page, too. */
const relativeTo = (page: string, path: string): string =>
  path.startsWith('/')
    ? posix.relative(`/${posix.dirname(page)}`, path) + (path.endsWith('/') ? '/' : '')
    : path

function fileOf(path: string): string {
  const [clean = ''] = decodeURIComponent(path).split('?')
  const file = clean.replace(/^\//, '')
  return file === '' || clean.endsWith('/') ? `${file}index.html` : file
}

const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => unescaped(id ?? '')))

const unescaped = (text: string): string =>
  text
    .replaceAll('&#38;', '&')
    .replaceAll('&amp;', '&')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
