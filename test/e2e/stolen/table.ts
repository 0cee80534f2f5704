// What thieves came to, as a table of the threat model: a row for each attempt, a column for all who came to the same.
import type { Shown } from './raid.ts'

const BEGIN = '<!-- written by npm test -- test/e2e/stolen.test.ts -u -->'
const END = '<!-- end of what was tried -->'

/** The page with the table of these outcomes between its two marks. */
export function withTable(page: string, shown: Shown): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error('the page has no place for the table')
  return `${page.slice(0, begin + BEGIN.length)}\n\n${tableOf(shown)}\n\n${page.slice(end)}`
}

function tableOf(shown: Shown): string {
  const attempts = [...new Set(Object.values(shown).flatMap((came) => Object.keys(came)))]
  const columns = Map.groupBy(Object.entries(shown), ([, came]) =>
    JSON.stringify(attempts.map((attempt) => cellOf(came[attempt]))),
  )
  const heads = [...columns.values()].map((thieves) => headOf(thieves.map(([name]) => name)))
  const cells = [...columns.keys()].map((column) => JSON.parse(column) as string[])
  const rows = attempts.map((attempt, at) => [attempt, ...cells.map((column) => column[at] ?? '')])
  return aligned([['', ...heads], ...rows])
}

/** Who refuses is left out: one of them is enough. */
const cellOf = (outcome = '–'): string =>
  outcome.replace(/^refused by .*$/, 'no').replace(/^possible/, 'yes')

const KEY = 'an API key for '

/** Names of scopes follow their first, as far as they say something. */
function headOf(names: readonly string[]): string {
  const scopes = names.flatMap((name) => (name.startsWith(KEY) ? [name.slice(KEY.length)] : []))
  if (scopes.length > NAMED_MAX)
    return [...names.filter((name) => !name.startsWith(KEY)), 'any other API key'].join('; ')
  return names
    .map((name, at) => (at > 0 && name.startsWith(KEY) ? name.slice(KEY.length) : name))
    .join(', ')
}
const NAMED_MAX = 4

/** As the formatter of this repository writes tables. */
function aligned([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) =>
    Math.max(3, title.length, ...rows.map((row) => (row[at] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')
}
