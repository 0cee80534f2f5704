// TASK_RESULT: what came of a task (S13, S14).
import type { JsonObject, JsonValue } from '../../json.ts'
import { isObject, messageMembers, reading, refuse, required } from './read-members.ts'
import type { Members, Read } from './read-members.ts'
import { PROTOCOL_VERSION, RESULT_STATUSES } from './words.ts'
import type { ResultStatus } from './words.ts'

export interface TaskResult {
  readonly type: 'TASK_RESULT'
  readonly protocol_version: string
  readonly task_id: string
  readonly status: ResultStatus
  /** As the worker counts. */
  readonly tokens_spent: number
  readonly next_steps: readonly string[]
  /** Why it could not start; of a blocked task only. */
  readonly blocked_reason: string | null
  readonly artifacts: JsonObject
  /** What went wrong; of an error only. */
  readonly summary: string | null
  /** What is left to do; of a part only. */
  readonly remaining: readonly string[]
}

const TEXT_MAX = 8_192
const STEPS_MAX = 1_000

export const readResult = (value: JsonValue): Read<TaskResult> =>
  reading(() => {
    const members = messageMembers(value, 'TASK_RESULT')
    const artifacts = readArtifacts(members)
    const result: TaskResult = {
      type: 'TASK_RESULT',
      protocol_version: required(members.name('protocol_version'), '/protocol_version'),
      task_id: required(members.name('task_id'), '/task_id'),
      status: required(members.oneOf('status', RESULT_STATUSES), '/status'),
      tokens_spent: members.count('tokens_spent') ?? 0,
      next_steps: readTexts(members.value('next_steps'), '/next_steps'),
      blocked_reason: members.text('blocked_reason', TEXT_MAX),
      artifacts,
      summary: readSummary(members, artifacts),
      remaining: readTexts(members.value('remaining') ?? artifacts['remaining'], '/remaining'),
    }
    return { ...result, ...requireReason(result) }
  })

function readArtifacts(members: Members): JsonObject {
  const artifacts = members.value('artifacts') ?? {}
  return isObject(artifacts) ? artifacts : { value: artifacts }
}

/** The protocol names no member for it, so workers choose one. */
function readSummary(members: Members, artifacts: JsonObject): string | null {
  const found = ['summary', 'error_summary', 'error']
    .flatMap((name) => [members.value(name), artifacts[name]])
    .find((value) => typeof value === 'string' && value.trim() !== '')
  return typeof found === 'string' ? found.slice(0, TEXT_MAX) : null
}

function readTexts(value: JsonValue | undefined, pointer: string): readonly string[] {
  const texts: JsonValue = typeof value === 'string' ? [value] : (value ?? [])
  const isList = Array.isArray(texts) && texts.length <= STEPS_MAX
  if (!isList || !texts.every((one) => typeof one === 'string' && one.length <= TEXT_MAX))
    refuse(pointer, 'expected a list of texts', `Send at most ${STEPS_MAX} texts.`)
  return texts as readonly string[]
}

// Each status says why: a blocked task its reason, an error its summary, a part what is left.
function requireReason(result: TaskResult): Partial<TaskResult> {
  const { status, blocked_reason: reason, summary, remaining, next_steps: steps } = result
  if (status === 'blocked' && (reason ?? '').trim() === '')
    refuse('/blocked_reason', 'is required where status is blocked', 'Say what is missing.')
  if (status === 'error' && summary === null)
    refuse('/summary', 'is required where status is error', 'Say what went wrong.')
  if (status !== 'partial') return {}
  const left = remaining.length > 0 ? remaining : steps
  if (left.length === 0)
    refuse('/remaining', 'is required where status is partial', 'Say what is left to do.')
  return { remaining: left }
}

/** A result of this version: what is left out is empty. */
export const resultOf = (
  taskId: string,
  status: ResultStatus,
  parts: Partial<Omit<TaskResult, 'type' | 'protocol_version' | 'task_id' | 'status'>> = {},
): TaskResult => ({
  type: 'TASK_RESULT',
  protocol_version: PROTOCOL_VERSION,
  task_id: taskId,
  status,
  tokens_spent: 0,
  next_steps: [],
  blocked_reason: null,
  artifacts: {},
  summary: null,
  remaining: [],
  ...parts,
})
