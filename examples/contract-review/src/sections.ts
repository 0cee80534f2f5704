// Splits a normalised licence text into its sections, so that a clause can be pointed at.
import type { Section } from './review-state.ts'

const SECTIONS_MAX = 2_000

const RULE = /^(?:[-=*_#~]\s?){3,}$/
const MARKDOWN = /^#{1,6}\s+(?<title>.+)$/
const NUMBERED = /^(?:section\s+|article\s+)?\d+(?:\.\d+)*[.:)]\s+(?<title>[\p{Lu}"“].*)$/iu
const CAPITALS = /^[^a-z]*\p{Lu}{3,}[^a-z]*$/u
const ITEM = /^(?:[*•-]|\(?[a-z0-9]{1,3}[.)])\s/i

const NOTICE = /^copyright\s*(?:\(c\)|©|\d|\[)/i

interface Draft {
  heading: string
  lines: string[]
}

/**
 * Sections in the order of the text, each with its lines joined to paragraphs. At most 2,000
 * sections of at most 32,768 characters; longer ones are cut, and nothing is left out.
 */
export function splitSections(text: string): readonly Section[] {
  const drafts: Draft[] = [{ heading: '', lines: [] }]
  for (const line of text.split('\n')) {
    const heading = headingOf(line)
    const last = drafts.at(-1)
    if (heading !== undefined && drafts.length < SECTIONS_MAX) drafts.push(draftFor(heading, line))
    else last?.lines.push(line)
  }
  return drafts
    .flatMap(({ heading, lines }) =>
      cut(joinLines(lines)).map((piece) => ({ heading, text: piece })),
    )
    .map((section, index) => ({ id: `s${index + 1}`, ...section }))
}

// The words of a numbered heading may already be the clause, so they stay in the text.
function draftFor(heading: string, line: string): Draft {
  return { heading: heading.slice(0, 120), lines: RULE.test(line) ? [] : [line] }
}

function headingOf(line: string): string | undefined {
  if (RULE.test(line)) return ''
  const title = MARKDOWN.exec(line)?.groups?.['title'] ?? NUMBERED.exec(line)?.groups?.['title']
  if (title !== undefined) return title
  return line.length <= 60 && CAPITALS.test(line) && !/[.;,]$/.test(line) ? line : undefined
}

function joinLines(lines: readonly string[]): string {
  return lines
    .map((line) => {
      if (line === '') return '\n\n'
      return ITEM.test(line) || NOTICE.test(line) ? `\n${line} ` : `${line} `
    })
    .join('')
    .replaceAll(' \n', '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

// By code points, so that no character is split.
function cut(text: string): readonly string[] {
  return text.match(/[^]{1,32768}/gu) ?? []
}
