// A person names one of a list by its id or by the first digits of it.
import { isUuid } from '@baton/protocol/uuid'
import { permanent } from '@baton/runtime'
import { nextStep } from '../terminal/next-steps.ts'

interface Listed {
  /** Each by the ids that it goes by, its own first. */
  readonly ids: readonly (readonly string[])[]
  /** What is listed, such as alert. */
  readonly what: string
  readonly code: `BATON_${string}`
  /** The command that lists them. */
  readonly command: string
}

const DIGITS = /^[0-9a-f-]{4,36}$/

/** A whole id that is not listed may be of one that is over. Throws BATON_USAGE, or `code` where none is meant. */
export function wholeId(text: string, { ids, what, code, command }: Listed): string {
  const given = text.trim().toLowerCase()
  if (!DIGITS.test(given))
    throw permanent('BATON_USAGE', `${JSON.stringify(text)} is not an id`, {
      fix: 'Give an id, or at least its first 4 hexadecimal digits.',
    })
  const meant = ids.filter((own) => own.some((id) => id.startsWith(given)))
  const [first, second] = meant.map(([own]) => own)
  if (first === undefined) {
    if (isUuid(given)) return given
    throw permanent(code, `no ${what} that waits starts with ${given}`, {
      fix: `\`${nextStep(command)}\` lists them; one that is over needs its whole id.`,
    })
  }
  if (second === undefined) return first
  throw permanent('BATON_USAGE', `several ${what}s start with ${given}`, {
    fix: `Give more digits, of ${first} or ${second} for example.`,
  })
}
