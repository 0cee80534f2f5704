// Reads the rows of a corpus of attacks and ordinary texts, which is never part of the repository.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CorpusRow {
  readonly text: string
  readonly family: string
  /** Where it came from; rows of one source are left out together. */
  readonly source: string
  readonly attack: boolean
  /** The text alone hardly shows an attack. */
  readonly weak: boolean
  readonly language: string
  /** `plain`: the text alone. `embedded`: inside an ordinary one. `obfuscated`: in one of many encodings. */
  readonly form: Form
  readonly licence: string
}

const FORMS = {
  plain: ['dev-injection', 'dev-benign'],
  embedded: ['dev-injection-embedded'],
  obfuscated: ['dev-injection-obfuscated'],
} as const
export type Form = keyof typeof FORMS

/** A line of a file, as SOURCES.md of the corpus describes it. */
interface Line {
  readonly text: string
  readonly label: 'injection' | 'benign'
  readonly family: string
  readonly source: string
  readonly licence: string
  readonly lang?: string
  readonly weak?: boolean
}

/** All rows, in the order of the files. Throws what the file system says where one is missing. */
export function readCorpus(folder: string): CorpusRow[] {
  return (Object.keys(FORMS) as Form[]).flatMap((form) =>
    FORMS[form].flatMap((name) => readRows(join(folder, `${name}.jsonl`), form)),
  )
}

function readRows(path: string, form: Form): CorpusRow[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const row = JSON.parse(line) as Line
      return {
        text: row.text,
        family: row.family,
        source: `${row.label} of ${ownerOf(row.source)}`,
        attack: row.label === 'injection',
        weak: row.weak === true,
        language: row.lang ?? 'en',
        form,
        licence: row.licence,
      }
    })
}

/** The repository, or the first word of what is said of a source: an encoding of a row is of the row's source. */
function ownerOf(source: string): string {
  const [first = ''] = source.replace('generated from ', '').split(' ')
  return first.split(/[@/]/u).slice(0, 2).join('/').replace('/CybersecurityBenchmarks', '')
}
