// The words of packages/glossary.md, and where code or pages use one that it has replaced.
import type { SourceFile } from './source-files.ts'

interface Replaced {
  readonly word: string
  readonly instead: string
}

/** The words in code type of each row's third column. */
export function replacedWords(page: string): readonly Replaced[] {
  return page.split('\n').flatMap((line) => {
    const [, instead = '', , not = ''] = line.split('|').map((cell) => cell.trim())
    return [...not.matchAll(/`([^`]+)`/g)].map(([, word = '']) => ({ word, instead }))
  })
}

/** Names that are hashed or stored, and so never change. */
const STORED_NAMES = /baton\/[a-z-]+\/v\d+|formerly: '\w+'/g

/** Finds each as a word, in the plural, and in names: `queueMark`, `queue_mark`, `QUEUE_MARKS`, `queue-mark`. */
export function glossaryIsKept(page: string, files: readonly SourceFile[]): readonly string[] {
  const replaced = replacedWords(page).map(({ word, instead }) => {
    const parts = word.split(/[ -]/)
    return {
      instead,
      pattern: new RegExp(`(?<![a-z])${parts.join('[-_ ]?')}(?:s|d)?(?![a-z])`, 'i'),
    }
  })
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      const words = apart(`${path.split('/').at(-1)}\n${line.replaceAll(STORED_NAMES, '')}`)
      return replaced.flatMap(({ instead, pattern }) => {
        const found = pattern.exec(words)?.[0]
        return found === undefined
          ? []
          : [`${path}:${index + 1}: "${found}": the glossary says "${instead}"`]
      })
    }),
  )
}

/** `camelCase` as `camel Case`, so that a name's parts are words. */
const apart = (text: string): string => text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
