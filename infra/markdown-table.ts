// A table in Markdown, with its columns in line: pages that are generated read as well as those that are written.
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = widths.map((width) => '-'.repeat(width))
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}
