// Lays the pages out for the site builder: Markdown with the site's links, a plain-text twin of each page, the list of all for
// machines, and the files that pages lead to, as text.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mapLinks } from './markdown.ts'
import { resolverOf, ROOT } from './pages.ts'
import type { Manual, Page, PlacedSection } from './pages.ts'

const STAGED = join(ROOT, '.baton', 'manual')

/** What the site builder reads: its own place, so that the checkout stays as it is. */
export function stageManual(manual: Manual): { readonly folder: string; readonly files: number } {
  const pages = join(STAGED, 'pages')
  const outside = join(STAGED, 'public')
  for (const folder of [pages, outside]) rmSync(folder, { recursive: true, force: true })
  const texts = new Map(manual.pages.map((page) => [page, bodyOf(page, manual)]))
  const linked = new Set<string>()
  for (const [page, text] of texts) {
    const name = `${page.slug || 'index'}.md`
    const site = withLinks(page, text, {
      manual,
      addressOf: (slug) => `/${slug}${slug && '/'}`,
      linked,
    })
    write(join(pages, name), `${frontMatter(page)}\n${site}`)
    const plain = withLinks(page, text, {
      manual,
      addressOf: (slug) => `/${slug || 'index'}.md`,
      linked,
    })
    write(join(outside, name), `# ${page.title}\n\n${plain}`)
  }
  for (const path of linked) {
    const target = join(outside, 'files', `${path}.txt`)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(ROOT, path), target)
  }
  copyFileSync(join(ROOT, 'infra', 'manual', 'favicon.svg'), join(outside, 'favicon.svg'))
  write(join(outside, 'llms.txt'), listForMachines(manual))
  write(
    join(outside, 'llms-full.txt'),
    manual.pages.map((page) => `# ${page.title}\n\n${texts.get(page)}`).join('\n'),
  )
  write(join(STAGED, 'sidebar.json'), JSON.stringify(manual.sections.map(sidebarOf), null, 2))
  return { folder: STAGED, files: linked.size }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** JSON is YAML. */
function frontMatter({ title, description, slug }: Page): string {
  const fields = { title, description, slug: slug || 'index' }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  return `---\n${lines.join('\n')}\n---\n`
}

/** The first page ends with everything there is. */
function bodyOf(page: Page, { home, sections }: Manual): string {
  if (page !== home) return page.body
  const lists = sections.map(({ label, about, groups }) => {
    const shown = groups.map((group) => {
      const heading = groups.length > 1 ? `### ${group.label}\n\n` : ''
      return `${heading}${group.pages.map((one) => `- [${one.label}](page:${one.slug})`).join('\n')}`
    })
    return `## ${label}\n\n${about}\n\n${shown.join('\n\n')}\n`
  })
  return `${page.body}\n${lists.join('\n')}`
}

interface Linking {
  readonly manual: Manual
  readonly addressOf: (slug: string) => string
  /** Gains the files that are linked. */
  readonly linked: Set<string>
}

function withLinks({ source }: Page, text: string, { manual, addressOf, linked }: Linking): string {
  const resolve = resolverOf(manual.pages)
  return mapLinks(text, (words, target) => {
    if (target.startsWith('page:')) return `[${words}](${addressOf(target.slice('page:'.length))})`
    const found = resolve(source, target)
    if (found.kind === 'page') {
      const anchor = found.anchor === '' ? '' : `#${found.anchor}`
      return `[${words}](${addressOf(found.page.slug)}${anchor})`
    }
    if (found.kind === 'file') {
      linked.add(found.path)
      return `[${words}](/files/${found.path}.txt)`
    }
    return found.kind === 'outside' ? `[${words}](${target})` : words
  })
}

/** As llmstxt.org describes it. */
function listForMachines({ home, sections }: Manual): string {
  const lists = sections.map(({ label, groups }) => {
    const lines = groups.flatMap(({ pages }) =>
      pages.map(({ title, slug, description }) => `- [${title}](/${slug}.md): ${description}`),
    )
    return `## ${label}\n\n${lines.join('\n')}\n`
  })
  const all = 'Every page in one file: [llms-full.txt](/llms-full.txt).'
  return `# ${home.title}\n\n> ${home.description}\n\n${all}\n\n${lists.join('\n')}`
}

interface SidebarItem {
  readonly label: string
  readonly link?: string
  readonly collapsed?: boolean
  readonly items?: readonly SidebarItem[]
}

function sidebarOf({ label, groups }: PlacedSection): SidebarItem {
  const [only] = groups
  const items =
    groups.length === 1
      ? itemsOf(only?.pages ?? [])
      : groups.map((group) => ({
          label: group.label,
          collapsed: true,
          items: itemsOf(group.pages),
        }))
  return { label, items, collapsed: label === 'Runbooks' }
}

/** Pages of one split file stand together below its first. */
function itemsOf(pages: readonly Page[]): readonly SidebarItem[] {
  const linkOf = ({ label, slug }: Page): SidebarItem => ({ label, link: `/${slug}/` })
  return [...Map.groupBy(pages, ({ source }) => source).values()].flatMap(
    (group): readonly SidebarItem[] => {
      const [first] = group
      if (first === undefined || group.length === 1) return group.map(linkOf)
      return [{ label: first.label, collapsed: true, items: group.map(linkOf) }]
    },
  )
}
