// The README's table that leads a reader through one handoff names real, short files.
import type { SourceFile } from './source-files.ts'

const LINES_MAX = 200
const FILES_MIN = 8

/** The files named in the table of the README's section "Follow one handoff". */
function filesToFollow(readme: string): readonly string[] {
  const section = /^## Follow one handoff$([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(readme)?.[1] ?? ''
  const rows = section.split('\n').filter((line) => line.trimStart().startsWith('|'))
  return rows.flatMap((row) =>
    [...row.matchAll(/`([\w./-]+\.(?:ts|sql|mjs))`/g)].map(([, path]) => path ?? ''),
  )
}

export function followTableIsTrue(readme: string, files: readonly SourceFile[]): readonly string[] {
  const named = filesToFollow(readme)
  if (named.length < FILES_MIN)
    return [`README.md: the section "Follow one handoff" needs a table that names about ten files`]
  return named.flatMap((path) => {
    const file = files.find((candidate) => candidate.path === path)
    if (file === undefined) return [`README.md: ${path} does not exist`]
    const lines = file.text.split('\n').length - 1
    return lines <= LINES_MAX
      ? []
      : [`${path}: ${lines} lines; a reader follows at most ${LINES_MAX}`]
  })
}
