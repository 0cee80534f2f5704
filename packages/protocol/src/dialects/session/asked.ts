// What a message of an orchestrator asks: a dispatch, an inline header block, or plain prose. One form for all three.
import { briefOf, readDispatch } from './dispatch.ts'
import type { TaskDispatch } from './dispatch.ts'
import { readInline } from './inline.ts'
import type { InlineDispatch } from './inline.ts'
import { objectsInText } from './objects-in-text.ts'
import { reading, required } from './read-members.ts'
import type { Read } from './read-members.ts'

export interface Asked extends InlineDispatch {
  readonly form: 'dispatch' | 'inline' | 'prose'
  readonly dataSubjects: readonly string[]
}

/** Reads a message. One that is neither a dispatch nor a header block is prose, whoever sends it (S19). */
export function readAsked(text: string): Read<Asked> {
  const dispatch = objectsInText(text).findLast(({ type }) => type === 'TASK_DISPATCH')
  if (dispatch !== undefined) {
    const read = readDispatch(dispatch)
    return read.ok ? { ok: true, value: askedBy(read.value) } : read
  }
  const inline = readInline(text)
  if (inline !== undefined)
    return inline.ok
      ? { ok: true, value: { ...inline.value, form: 'inline', dataSubjects: [] } }
      : inline
  return reading(() => ({ ...PROSE, brief: required(briefOf(text), '/text') }))
}

const askedBy = ({ task, requirements, deadline, brief }: TaskDispatch): Asked => ({
  form: 'dispatch',
  taskId: task.task_id,
  priority: task.priority,
  replySchema: task.reply_schema,
  tokenBudget: task.token_budget,
  requiredMcp: requirements.required_mcp,
  requiredCapabilities: requirements.required_capabilities,
  deadline,
  brief,
  dataSubjects: task.data_subjects ?? [],
})

const PROSE = {
  form: 'prose',
  taskId: null,
  priority: 'normal',
  replySchema: 'prose',
  tokenBudget: null,
  requiredMcp: [],
  requiredCapabilities: [],
  deadline: null,
  dataSubjects: [],
} as const
