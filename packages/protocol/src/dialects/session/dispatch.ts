// TASK_DISPATCH: what an orchestrator asks of a worker, and on which terms (S08).
import type { JsonValue } from '../../json.ts'
import { messageMembers, reading, refuse, required } from './read-members.ts'
import type { Members, Read } from './read-members.ts'
import { PRIORITIES, PROMPT_MAX, PROTOCOL_VERSION, REPLY_SCHEMAS } from './words.ts'
import type { ReplySchema, TaskPriority } from './words.ts'

export interface TaskDispatch {
  readonly type: 'TASK_DISPATCH'
  readonly protocol_version: string
  readonly task: {
    readonly task_id: string
    readonly priority: TaskPriority
    readonly reply_schema: ReplySchema
    readonly token_budget: number | null
    /** Whom the text is about, by opaque ids; erasing one of them erases the text. An extension. */
    readonly data_subjects?: readonly string[]
  }
  readonly requirements: {
    readonly required_mcp: readonly string[]
    readonly required_capabilities: readonly string[]
  }
  /** RFC 3339. */
  readonly deadline: string | null
  readonly brief: string
}

const LISTED_MAX = 100

export const readDispatch = (value: JsonValue): Read<TaskDispatch> =>
  reading(() => {
    const members = messageMembers(value, 'TASK_DISPATCH')
    const task = members.object('task')
    const requirements = members.object('requirements')
    return {
      type: 'TASK_DISPATCH',
      protocol_version: required(members.name('protocol_version'), '/protocol_version'),
      task: {
        task_id: required(task.name('task_id'), '/task/task_id'),
        priority: task.oneOf('priority', PRIORITIES) ?? 'normal',
        reply_schema: task.oneOf('reply_schema', REPLY_SCHEMAS) ?? 'structured',
        token_budget: readTokenBudget(task.count('token_budget'), '/task/token_budget'),
        ...readSubjects(task),
      },
      requirements: {
        required_mcp: readList(requirements, 'required_mcp'),
        required_capabilities: readList(requirements, 'required_capabilities'),
      },
      deadline: readDeadline(members.name('deadline'), '/deadline'),
      brief: required(briefOf(members.text('brief', Number.MAX_SAFE_INTEGER)), '/brief'),
    }
  })

/** A brief that says something, cut to what a worker is given at most. */
export const briefOf = (text: string | null): string | null =>
  text === null || text.trim() === '' ? null : clampPrompt(text)

/** The text cut to `PROMPT_MAX`, never between the halves of one character. */
export function clampPrompt(text: string): string {
  if (text.length <= PROMPT_MAX) return text
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(PROMPT_MAX - 1))
  return text.slice(0, isHalf ? PROMPT_MAX - 1 : PROMPT_MAX)
}

export function readTokenBudget(count: number | null, pointer: string): number | null {
  if (count === 0) refuse(pointer, 'expected at least 1', 'Leave it out where there is no limit.')
  return count
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/

export function readDeadline(text: string | null, pointer: string): string | null {
  if (text === null) return null
  const at = INSTANT.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at))
    refuse(pointer, 'expected a time', 'Send it as RFC 3339 has it: 2026-05-31T21:00:00Z.')
  return text
}

function readList(members: Members, name: string): readonly string[] {
  const names = [...new Set(members.names(name))]
  if (names.length > LISTED_MAX)
    refuse(`/requirements/${name}`, `more than ${LISTED_MAX} names`, 'Require fewer.')
  return names
}

/** As the message's schema has it. */
const OPAQUE = /^[^\s@\0-\x1f\x7f]+$/

function readSubjects(task: Members): { data_subjects?: readonly string[] } {
  const subjects = [...new Set(task.names('data_subjects'))]
  if (subjects.length === 0) return {}
  if (subjects.length > LISTED_MAX || !subjects.every((subject) => OPAQUE.test(subject)))
    refuse(
      '/task/data_subjects',
      'expected opaque ids',
      `Send at most ${LISTED_MAX} ids without spaces or @, never names or addresses.`,
    )
  return { data_subjects: subjects }
}

/** A dispatch of this version. */
export const dispatchOf = (
  parts: Omit<TaskDispatch, 'type' | 'protocol_version'>,
): TaskDispatch => ({ type: 'TASK_DISPATCH', protocol_version: PROTOCOL_VERSION, ...parts })
