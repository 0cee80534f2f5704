// Reads what reviewers released, as `baton safety released --text --json` writes it: ordinary texts that the model took for attacks.
import { readFileSync } from 'node:fs'

/** A line, as far as it is of use here. */
interface Line {
  readonly rule: string | null
  readonly view: string | null
  readonly text?: string | null
}

/** In other forms the text is the writing in which it was hidden, which the model never read. */
const READ_AS_IT_STANDS: ReadonlySet<unknown> = new Set(['raw', 'joined'])

/**
 * The texts under findings of the model, each once and in one order, whatever that of files and lines is. What stands under the findings of
 * rules is left out: those few words are an attack elsewhere, and only what stood around them let people release it. Throws
 * where a line is no such line, or was written without `--text`.
 */
export function readReleased(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap(readTexts))].toSorted()
}

const readTexts = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      if (line === '') return []
      const { rule, view, text } = readLine(line, `${path}, line ${index + 1}`)
      return rule === 'model' && READ_AS_IT_STANDS.has(view) ? (text ?? []) : []
    })

function readLine(line: string, place: string): Line {
  try {
    const read = JSON.parse(line) as Line
    if (read.text === null || typeof read.text === 'string') return read
  } catch {
    // Said below.
  }
  throw new Error(`${place}: write the file with \`baton safety released --text --json\``)
}
