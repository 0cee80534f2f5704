// The page of measurements: each benchmark replaces its own rows when it has measured, and says by which command, when and where.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { basename, isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'

export const MACHINE = `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`

export interface Measurement {
  /** What was measured; a row is replaced by a later one of the same. */
  readonly what: string
  readonly figures: string
  /** What is promised; empty where nothing is. */
  readonly promised?: string
}

const PAGE = fileURLToPath(new URL('results.md', import.meta.url))
const HEAD = `# Measurements

Written by \`npm run bench\`: each row is the last run of its command. The machine and its load decide absolute figures; compare ratios of one run.

`
const COLUMNS = ['what', 'figures', 'promised', 'command', 'date', 'machine']

const rowOf = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '/').replaceAll('\n', ' ')).join(' | ')} |`

/** The rows of a page by what they measured; none where the page cannot be read. */
export function rowsOfPage(page: string): ReadonlyMap<string, readonly string[]> {
  const lines = page.split('\n').filter((line) => line.startsWith('| '))
  const rows = lines.slice(2).map((line) =>
    line
      .slice(2, -2)
      .split('|')
      .map((cell) => cell.trim()),
  )
  return new Map(rows.map((cells) => [cells[0] ?? '', cells]))
}

/** The page with these measurements in place of older ones, in the order in which they were first measured. */
export function withMeasurements(
  page: string,
  measured: readonly Measurement[],
  run: { readonly command: string; readonly date: string; readonly machine: string },
): string {
  const rows = new Map(rowsOfPage(page))
  for (const { what, figures, promised = '' } of measured) {
    rows.set(what, [what, figures, promised, `\`${run.command}\``, run.date, run.machine])
  }
  const separator = COLUMNS.map(() => '---')
  return `${HEAD}${[COLUMNS, separator, ...rows.values()].map(rowOf).join('\n')}\n`
}

function readPage(): string {
  try {
    return readFileSync(PAGE, 'utf8')
  } catch {
    return ''
  }
}

/** Writes the measurements of this process's run into the page. */
export function recordMeasurements(measured: readonly Measurement[]): void {
  // Where a file lies on this machine is nothing that the page says.
  const words = process.argv.slice(2).map((word) => (isAbsolute(word) ? basename(word) : word))
  const command = ['npm run bench', ...(words.length === 0 ? [] : ['--', ...words])].join(' ')
  const date = new Date().toISOString().slice(0, 10)
  writeFileSync(PAGE, withMeasurements(readPage(), measured, { command, date, machine: MACHINE }))
  process.stderr.write('written to test/bench/results.md\n')
}
