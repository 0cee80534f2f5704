// Whom an answer names beside its message: what it says is theirs too, also where nothing is handed on, so that erasing one of
// them finds it (I11). What could not be recorded under their ids is refused before it commits.
import type { HandoffMessage } from '@baton/protocol'
import { permanent } from '@baton/runtime'
import type { AgentResult } from '../agent.ts'

/** As a message takes them, so that an answer that ends a task is held to no less than one that hands on. */
const SUBJECT = /^[^\s@\p{Cc}\p{Cs}]{1,256}$/u
/** So many people one text of the log can be of together: each has a key of it of their own in the vault. */
export const SUBJECTS_MAX = 256

/** The people whom the answer names and the message does not, each once. Throws BATON_AGENT_RESULT_INVALID. */
export function namedIn(
  { personalData }: Pick<AgentResult, 'personalData'>,
  { dataSubjects: before = [] }: Pick<HandoffMessage, 'dataSubjects'>,
): readonly string[] {
  const known = new Set(before)
  const subjects: readonly unknown[] = personalData?.dataSubjects ?? []
  const isId = (one: unknown): one is string => typeof one === 'string' && SUBJECT.test(one)
  const wrong = subjects.findIndex((one) => !isId(one))
  if (wrong !== -1) throw refused(`/personalData/dataSubjects/${wrong} is no opaque id`)
  const named = [...new Set(subjects.filter(isId))].filter((one) => !known.has(one))
  if (known.size + named.length > SUBJECTS_MAX)
    throw refused(`/personalData/dataSubjects and the message name more than ${SUBJECTS_MAX}`)
  return named
}

const refused = (problem: string) =>
  permanent('BATON_AGENT_RESULT_INVALID', `the agent answered ${problem}`, {
    fix: `Name each person by an opaque id of 1 to 256 characters, without spaces and never an e-mail address; at most ${SUBJECTS_MAX}, with those of the message.`,
  })
