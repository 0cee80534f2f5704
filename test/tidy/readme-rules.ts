// The README's table that leads a reader through one handoff names real files.
import type { SourceFile } from './source-files.ts'

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
    const exists = files.some((candidate) => candidate.path === path)
    return exists ? [] : [`README.md: ${path} does not exist`]
  })
}
