// Writes src/generated/code-digest.ts: the digest of all code that decides a verdict; with --check it only says whether it is up to date.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const SOURCES = new URL('src/', import.meta.url)
const TARGET = new URL('generated/code-digest.ts', SOURCES)
const ENTRY = 'scanner.ts'

type Read = (file: string) => string

const fromSources: Read = (file) => readFileSync(new URL(file, SOURCES), 'utf8')

/** Every file that the scanner runs, in the order of their names; what is generated here is none of them. */
export function decidingFiles(read: Read = fromSources): readonly string[] {
  const files = new Set([ENTRY])
  for (const file of files)
    for (const [, path = ''] of read(file).matchAll(/ from '(\.{1,2}\/[^']+)'/gu)) {
      const imported = new URL(path, new URL(file, SOURCES)).href.slice(SOURCES.href.length)
      if (!imported.startsWith('generated/')) files.add(imported)
    }
  return [...files].toSorted()
}

/** SHA-256 (hex) over the files without their comments, and over the version of the library that matches. */
export function codeDigest(read: Read = fromSources): string {
  const digest = createHash('sha256').update(matchingLibrary())
  for (const file of decidingFiles(read)) digest.update(`\n${file}\n${withoutComments(read(file))}`)
  return digest.digest('hex')
}

/** Lines of code only: what a comment says decides nothing. */
function withoutComments(source: string): string {
  return source
    .replaceAll(/^[ \t]*\/\*\*?(?:[^*]|\*(?!\/))*\*\/[ \t]*$/gmu, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('//'))
    .join('\n')
}

function matchingLibrary(): string {
  const catalog = readFileSync(new URL('../../pnpm-workspace.yaml', import.meta.url), 'utf8')
  const [pinned] = /^ +re2js: .+$/mu.exec(catalog) ?? []
  if (pinned === undefined) throw new Error('pnpm-workspace.yaml pins no version of re2js')
  return pinned.trim()
}

function main(): void {
  const wanted = `// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '${codeDigest()}'
`
  if (process.argv.includes('--check')) {
    if (readFileSync(TARGET, 'utf8') === wanted) return
    process.stderr.write(
      'src/generated/code-digest.ts is of other code: run node packages/safety/generate-code-digest.ts\n',
    )
    process.exitCode = 1
  } else writeFileSync(TARGET, wanted)
}

if (import.meta.main) main()
