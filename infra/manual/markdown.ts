// Reads Markdown as far as the manual needs it: headings with their anchors, links outside code, and fenced blocks.

export interface Heading {
  readonly level: number
  /** As plain text. */
  readonly text: string
  /** The anchor that GitHub and the site give it. */
  readonly anchor: string
  /** Where its line begins in the text. */
  readonly at: number
}

export interface Fence {
  readonly language: string
  readonly text: string
  /** The line of the text on which it begins, from 1. */
  readonly line: number
}

const FENCE = /^( *)(`{3,})(.*)\n([\s\S]*?)^\1\2 *$/gm
const CODE = /^( *)(`{3,}).*\n[\s\S]*?^\1\2 *$|`+[^`\n]+`+/gm
const LINK = /\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s]+)\)/g

export function fencesOf(text: string): readonly Fence[] {
  return [...text.matchAll(FENCE)].map((found) => ({
    language: (found[3] ?? '').trim(),
    text: found[4] ?? '',
    line: text.slice(0, found.index).split('\n').length,
  }))
}

/** The text without its fenced blocks. */
export const fencesOut = (text: string): string => text.replaceAll(FENCE, '')

/** Every heading outside of code; equal ones are told apart as GitHub does it. */
export function headingsOf(text: string): readonly Heading[] {
  const used = new Map<string, number>()
  const prose = text.replaceAll(FENCE, (code) => ' '.repeat(code.length))
  return [...prose.matchAll(/^(#{1,6}) +(.+?) *$/gm)].map((found) => {
    const words = plainText(found[2] ?? '')
    const base = slugOf(words)
    const before = used.get(base) ?? 0
    used.set(base, before + 1)
    return {
      level: (found[1] ?? '').length,
      text: words,
      anchor: before === 0 ? base : `${base}-${before}`,
      at: found.index,
    }
  })
}

/** Words without the marks of Markdown. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\]]*)\]\([^()\s]*\)/g, '$1')
    .replaceAll(/(\*\*|__)(.+?)\1/g, '$2')
    .replaceAll(/(?<![\w])_([^_]+)_(?![\w])/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function slugOf(words: string): string {
  return words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Every link outside of code, replaced by what `to` answers for its words and its target. */
export function mapLinks(text: string, to: (words: string, target: string) => string): string {
  return outsideCode(text, (prose) =>
    prose.replaceAll(LINK, (_, words: string, target: string) => to(words, target)),
  )
}

/** Where the links of a text lead, in order. */
export function linksOf(text: string): readonly string[] {
  const targets: string[] = []
  mapLinks(text, (_, target) => {
    targets.push(target)
    return ''
  })
  return targets
}

/** Changes what is no code; code in the words of a link goes along with them. */
function outsideCode(text: string, change: (prose: string) => string): string {
  const kept: string[] = []
  const marked = text.replaceAll(CODE, (code) => `\u{0}${kept.push(code) - 1}\u{0}`)
  return change(marked).replaceAll(
    /\u{0}(\d+)\u{0}/gu,
    (_, index: string) => kept[Number(index)] ?? '',
  )
}
