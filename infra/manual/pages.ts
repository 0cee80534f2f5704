// The pages of the manual: the files of the checkout where they stand, each with its address; nothing is copied into a second place.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fencesOut, headingsOf, linksOf, plainText } from './markdown.ts'
import type { Heading } from './markdown.ts'
import { HOME, SECTIONS, SHORT_LABELS, SPLIT } from './navigation.ts'
import type { Group, Section } from './navigation.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const DESCRIPTION_MAX = 200

export interface Page {
  /** The file, from the checkout's root; a page of a split file has the same. */
  readonly source: string
  /** Its address on the site without slashes around it; empty for the first page. */
  readonly slug: string
  readonly title: string
  /** Its name in the navigation. */
  readonly label: string
  readonly description: string
  /** Markdown without the title, links as the file has them. */
  readonly body: string
  /** Anchors of the file that are on this page, with what they are called here; an empty one is the top of the page. */
  readonly anchors: ReadonlyMap<string, string>
}

export interface PlacedGroup {
  readonly label: string
  readonly pages: readonly Page[]
}

export interface PlacedSection extends Pick<Section, 'label' | 'about'> {
  readonly groups: readonly PlacedGroup[]
}

export interface Manual {
  readonly home: Page
  readonly sections: readonly PlacedSection[]
  /** All of them, the first page included. */
  readonly pages: readonly Page[]
}

/** Everything that could be a page: no list of the navigation needs to name what its `rest` matches. */
function filesUnderInfra(): readonly string[] {
  return globSync('infra/**/*.md', { cwd: ROOT, exclude: ['**/node_modules/**'] })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
}

export function readManual(): Manual {
  const files = filesUnderInfra()
  const named = new Set([
    HOME,
    ...SECTIONS.flatMap(({ groups }) => groups.flatMap((one) => one.pages)),
  ])
  const restOf = ({ rest }: Group) =>
    rest === undefined ? [] : files.filter((file) => !named.has(file) && rest.test(file))
  const sections = SECTIONS.map(({ label, about, groups }) => ({
    label,
    about,
    groups: groups.map((group) => ({
      label: group.label,
      pages: [...group.pages, ...restOf(group)].flatMap((source) => read(source, group.folder)),
    })),
  }))
  const [home] = read(HOME, '')
  if (home === undefined) throw new Error(`${HOME} is empty`)
  const pages = [home, ...sections.flatMap(({ groups }) => groups.flatMap((group) => group.pages))]
  return { home, sections, pages }
}

function read(source: string, folder: string): readonly Page[] {
  const text = readFileSync(join(ROOT, source), 'utf8')
  const headings = headingsOf(text)
  const [title] = headings
  if (title === undefined || title.level !== 1)
    throw new Error(`${source}: begin with one heading of the first level, the title of the page`)
  const slug = source === HOME ? '' : posix.join(folder, nameOf(source))
  if (SPLIT.has(source)) return split({ source, slug, text, headings })
  return [wholePage({ source, slug, text, headings })]
}

/** A README is called after its folder. */
function nameOf(source: string): string {
  if (source === 'infra/README.md') return 'running'
  const name = basename(source, '.md')
  const folder = basename(dirname(source))
  const named = name === 'README' ? folder.replace(/^\.$/, 'overview') : name
  return named.toLowerCase().replaceAll('_', '-')
}

interface Read {
  readonly source: string
  readonly slug: string
  readonly text: string
  readonly headings: readonly Heading[]
}

function wholePage({ source, slug, text, headings }: Read): Page {
  const [title] = headings
  const body = bodyAfter(text, title?.at ?? 0)
  return {
    source,
    slug,
    title: title?.text ?? '',
    label: SHORT_LABELS[source] ?? title?.text ?? '',
    description: descriptionOf(body),
    body,
    anchors: new Map(headings.map(({ anchor }, index) => [anchor, index === 0 ? '' : anchor])),
  }
}

/** One page for what stands before the first section, and one for each section, whose headings move up by one level. */
function split({ source, slug, text, headings }: Read): readonly Page[] {
  const starts = headings.filter(({ level }) => level === 2)
  const leading = text.slice(0, starts[0]?.at)
  const first = wholePage({ source, slug, text: leading, headings: headingsOf(leading) })
  const sections = starts.map((start, index) => {
    const end = starts[index + 1]?.at ?? text.length
    const own = headings.filter(({ at }) => at >= start.at && at < end)
    const body = raised(bodyAfter(text.slice(start.at, end), 0))
    const local = headingsOf(body)
    return {
      source,
      slug: `${slug}/${start.anchor}`,
      title: start.text,
      label: start.text,
      description: descriptionOf(body),
      body,
      anchors: new Map(
        own.map(({ anchor }, place) => [
          anchor,
          place === 0 ? '' : (local[place - 1]?.anchor ?? ''),
        ]),
      ),
    }
  })
  const list = sections.map(({ title, anchors }) => `- [${title}](#${[...anchors.keys()][0]})`)
  return [
    { ...first, body: `${first.body.trimEnd()}\n\n## Contents\n\n${list.join('\n')}\n` },
    ...sections,
  ]
}

const bodyAfter = (text: string, at: number): string =>
  text.slice(text.indexOf('\n', at) + 1).trimStart()

function raised(body: string): string {
  const lines = new Set(headingsOf(body).map(({ at }) => at))
  return [...lines].toReversed().reduce((text, at) => text.slice(0, at) + text.slice(at + 1), body)
}

/** The first paragraph, without links and marks, up to its last whole sentence that fits. */
function descriptionOf(body: string): string {
  const prose = fencesOut(body).replaceAll(/<!--[\s\S]*?-->/g, '')
  const paragraphs = prose.split(/\n\s*\n/)
  const first =
    paragraphs.map((one) => one.trim()).find((one) => /^[\p{L}\p{N}“*_`[]/u.test(one)) ?? ''
  const words = plainText(first)
  if (words.length <= DESCRIPTION_MAX) return words
  const end = words.lastIndexOf('. ', DESCRIPTION_MAX)
  return end > 40
    ? words.slice(0, end + 1)
    : `${words.slice(0, words.lastIndexOf(' ', DESCRIPTION_MAX))} …`
}

/** Where a link leads: to a page, to a file that the site shows as text, out of the site, or nowhere. */
export type Target =
  | { readonly kind: 'page'; readonly page: Page; readonly anchor: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'folder' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'missing'; readonly why: string }

/** Resolves the links of one file. */
export function resolverOf(pages: readonly Page[]): (source: string, target: string) => Target {
  const bySource = Map.groupBy(pages, ({ source }) => source)
  return (source, target) => {
    if (/^[a-z]+:/.test(target)) return { kind: 'outside' }
    const [path = '', anchor = ''] = target.split('#')
    const file = path === '' ? source : posix.join(dirname(source), decodeURIComponent(path))
    const candidates = bySource.get(file) ?? bySource.get(posix.join(file, 'README.md'))
    if (candidates !== undefined) return onPage(candidates, anchor)
    if (file.replace(/\/$/, '') === 'infra/runbooks') {
      const page = pages.find(({ slug }) => slug === '')
      if (page !== undefined) return { kind: 'page', page, anchor: 'runbooks' }
    }
    const there = join(ROOT, file)
    if (!existsSync(there)) return { kind: 'missing', why: `${file} does not exist` }
    return statSync(there).isDirectory() ? { kind: 'folder' } : { kind: 'file', path: file }
  }
}

function onPage(candidates: readonly Page[], anchor: string): Target {
  const [first] = candidates
  if (first === undefined) return { kind: 'missing', why: 'no such page' }
  if (anchor === '') return { kind: 'page', page: first, anchor: '' }
  const page = candidates.find(({ anchors }) => anchors.has(anchor))
  if (page === undefined)
    return { kind: 'missing', why: `${first.source} has no heading #${anchor}` }
  return { kind: 'page', page, anchor: page.anchors.get(anchor) ?? '' }
}

/** Links of the manual that lead nowhere, as lines for a person. */
export function brokenLinks(pages: readonly Page[]): readonly string[] {
  const resolve = resolverOf(pages)
  return pages.flatMap(({ source, body }) =>
    linksOf(body).flatMap((target) => {
      const resolved = resolve(source, target)
      return resolved.kind === 'missing' ? [`${source}: ${target}: ${resolved.why}`] : []
    }),
  )
}
