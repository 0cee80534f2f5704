// The commands of Baton that pages show, as the words that its command line is given: those to type and those that are mentioned.
import { fencesOf, fencesOut } from './markdown.ts'

export interface ShownCommand {
  /** As the page has it. */
  readonly text: string
  /** What follows `npm run baton --`, or `up` and what follows `npm run up --`. */
  readonly words: readonly string[]
  /** What stands before it in its line: a variable that it is given, or a program whose output it reads. */
  readonly before: string
  /** In running text a command may be named without what it needs. */
  readonly mentioned: boolean
}

const BEGINS = /npm run (?:--silent )?(baton|up)(?: --(?= |$))?(?= (?!--\})|$)/g
const TYPED = new Set(['sh', 'bash', 'console', ''])

export function commandsShown(page: string): readonly ShownCommand[] {
  const typed = fencesOf(page)
    .filter(({ language }) => TYPED.has(language))
    .flatMap(({ text, language }) =>
      text
        .replaceAll(/\\\n\s*/g, '')
        .split('\n')
        // Where no language is named a block is a session, and what is typed stands behind its prompt.
        .filter((line) => language !== '' || line.startsWith('$ '))
        .flatMap((line) => commandsIn(line, false)),
    )
  const mentioned = [...fencesOut(page).matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) =>
    commandsIn(code ?? '', true),
  )
  return [...typed, ...mentioned]
}

function commandsIn(line: string, mentioned: boolean): readonly ShownCommand[] {
  return [...line.matchAll(BEGINS)].map((found) => {
    const text = line.slice(found.index)
    const words = shellWords(text.slice(found[0].length))
    const before = line.slice(0, found.index)
    return { text, words: found[1] === 'up' ? ['up', ...words] : words, before, mentioned }
  })
}

/** The words of one simple command, up to where the shell goes on with something else. */
export function shellWords(text: string): readonly string[] {
  const words: string[] = []
  for (const [part] of text.matchAll(
    /\d*[<>]|[|;&)}#]|(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s|;&)}<>"'])+/g,
  )) {
    if (/^(?:\d*[<>]|[|;&)}#])$/.test(part)) break
    words.push(part.replaceAll(/["']/g, ''))
  }
  return words
}
