// Whoever is woken finds a page for each alert, and each page has the same headings in the same order.
import { readdirSync, readFileSync } from 'node:fs'
import { ALERTS, runbookOf } from '@baton/telemetry'
import { describe, expect, it } from 'vitest'
import { commandsOf } from './first-commands.ts'

const FOLDER = new URL('../runbooks/', import.meta.url)
const HEADINGS = [
  'What it means',
  'Who is affected',
  'First three commands',
  'Likely causes',
  'What not to do',
  'When to escalate',
  'When it is over',
]

const pages = readdirSync(FOLDER)
const slugs = ALERTS.map((alert) => runbookOf(alert))

it('has one page for each alert, and no other', () => {
  expect(pages.toSorted()).toEqual(slugs.map((slug) => `${slug}.md`).toSorted())
})

describe.each(ALERTS)('the runbook of $name', (alert) => {
  const page = readFileSync(new URL(`${runbookOf(alert)}.md`, FOLDER), 'utf8')

  it('names its alert, says whether somebody is woken, and has every heading in order', () => {
    const words = page.replaceAll(/^```[\s\S]*?^```$/gm, '')
    const headings = words.match(/^#+ .*$/gm)?.map((line) => line.replace(/^#+ /, ''))
    expect(headings).toEqual([alert.name, ...HEADINGS])
    const [opening = ''] = page.split(`## ${HEADINGS[1]}`)
    expect(opening.toLowerCase()).toContain(alert.severity)
  })

  it('begins with three commands, and says of each what to look for', () => {
    const commands = commandsOf(page)
    expect(commands).toHaveLength(3)
    for (const { lookFor } of commands) expect(lookFor).not.toBe('')
  })

  it('leads to pages that there are', () => {
    const linked = [...page.matchAll(/\]\(([a-z-]+)\.md\)/g)].map(([, slug = '']) => slug)
    expect(slugs).toEqual(expect.arrayContaining(linked))
  })
})
