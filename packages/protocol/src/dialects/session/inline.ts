// The inline header block: a dispatch as hints above a brief, for workers and orchestrators that speak prose (phase 1, S15).
import type { TaskDispatch } from './dispatch.ts'
import { briefOf, readDeadline, readTokenBudget } from './dispatch.ts'
import { reading, refuse, required } from './read-members.ts'
import type { Read } from './read-members.ts'
import { PRIORITIES, REPLY_SCHEMAS } from './words.ts'
import type { ReplySchema, TaskPriority } from './words.ts'

/** What the block says; a task has an id there only where the sender adds one. */
export interface InlineDispatch {
  readonly taskId: string | null
  readonly priority: TaskPriority
  readonly replySchema: ReplySchema
  readonly tokenBudget: number | null
  readonly requiredMcp: readonly string[]
  readonly requiredCapabilities: readonly string[]
  readonly deadline: string | null
  readonly brief: string
}

const TITLE = 'TASK DISPATCH (inline)'
const HEADER_LINES_MAX = 100
const NAME_MAX = 256
const LISTED_MAX = 100

/** Reads a text that begins with the block; undefined where it does not. */
export function readInline(text: string): Read<InlineDispatch> | undefined {
  const lines = text.trimStart().split('\n', HEADER_LINES_MAX)
  if (lines[0]?.trim() !== TITLE) return undefined
  return reading(() => {
    const headers = new Map<string, string>()
    let length = lines[0]?.length ?? 0
    for (const line of lines.slice(1)) {
      if (line.trim() === '' || /^Brief:/i.test(line)) break
      length += line.length + 1
      const [, key, value] = /^([A-Za-z_]+):(.*)$/.exec(line.trim()) ?? []
      if (key === undefined || value === undefined)
        refuse('/header', 'a line is no `key: value`', 'End the header with a blank line.')
      headers.set(key.toLowerCase(), value.trim())
    }
    return { ...readHeaders(headers), brief: readBrief(text.trimStart().slice(length)) }
  })
}

const readBrief = (rest: string): string =>
  required(briefOf(rest.trim().replace(/^Brief:\s*/i, '')), '/brief')

function readHeaders(headers: ReadonlyMap<string, string>): Omit<InlineDispatch, 'brief'> {
  const value = (name: string): string | null => {
    const found = headers.get(name) ?? ''
    return found === '' || found === 'null' ? null : unquoted(found)
  }
  const word = <Word extends string>(name: string, words: readonly Word[]): Word | null => {
    const found = value(name)
    if (found !== null && !(words as readonly string[]).includes(found))
      refuse(`/${name}`, `expected one of ${words.join(', ')}`, 'Send one of these.')
    return found as Word | null
  }
  return {
    taskId: nameIn(value('task_id'), '/task_id'),
    priority: word('priority', PRIORITIES) ?? 'normal',
    replySchema: word('reply_schema', REPLY_SCHEMAS) ?? 'prose',
    tokenBudget: countIn(value('token_budget'), '/token_budget'),
    requiredMcp: listIn(headers.get('required_mcp') ?? '', '/required_mcp'),
    requiredCapabilities: listIn(
      headers.get('required_capabilities') ?? '',
      '/required_capabilities',
    ),
    deadline: readDeadline(value('deadline'), '/deadline'),
  }
}

const unquoted = (text: string): string => /^(["'])(.*)\1$/.exec(text)?.[2] ?? text

function nameIn(text: string | null, pointer: string): string | null {
  if (text !== null && (text === '' || text.length > NAME_MAX || /\p{Cc}/u.test(text)))
    refuse(pointer, `expected 1 to ${NAME_MAX} printable characters`, 'Send a shorter name.')
  return text
}

function countIn(text: string | null, pointer: string): number | null {
  if (text === null) return null
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(count)) refuse(pointer, 'expected a whole number from 1', 'Send digits only.')
  return readTokenBudget(count, pointer)
}

/** `[a, b]`, or one name without brackets. */
function listIn(text: string, pointer: string): readonly string[] {
  const inner = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  const names = inner
    .split(',')
    .map((one) => unquoted(one.trim()))
    .filter((one) => one !== '' && one !== 'null')
  if (names.length > LISTED_MAX) refuse(pointer, `more than ${LISTED_MAX} names`, 'Require fewer.')
  return [...new Set(names.map((one) => nameIn(one, pointer) ?? ''))]
}

/** The block of a dispatch, for a worker that reads prose. */
export function writeInline({ task, requirements, deadline, brief }: TaskDispatch): string {
  const { required_mcp: mcp, required_capabilities: capabilities } = requirements
  const lines = [
    `task_id: ${task.task_id}`,
    `priority: ${task.priority}`,
    `reply_schema: ${task.reply_schema}`,
    ...(task.token_budget === null ? [] : [`token_budget: ${task.token_budget}`]),
    ...(mcp.length === 0 ? [] : [`required_mcp: [${mcp.join(', ')}]`]),
    ...(capabilities.length === 0 ? [] : [`required_capabilities: [${capabilities.join(', ')}]`]),
    ...(deadline === null ? [] : [`deadline: ${deadline}`]),
  ]
  return `${TITLE}\n${lines.join('\n')}\n\nBrief: ${brief}`
}
