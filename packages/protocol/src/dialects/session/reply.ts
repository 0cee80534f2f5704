// What a worker's reply says: an announcement in it (S16), its result in it (S17), and whether it keeps to the reply schema (S09).
import type { JsonObject } from '../../json.ts'
import { readAnnounce } from './announce.ts'
import type { SessionAnnounce } from './announce.ts'
import { objectsInText } from './objects-in-text.ts'
import type { SessionProblem } from './read-members.ts'
import { readResult, resultOf } from './result.ts'
import type { TaskResult } from './result.ts'
import { QUEUED } from './words.ts'
import type { ReplySchema } from './words.ts'

interface Asked {
  readonly taskId: string
  readonly replySchema: ReplySchema
}

export type Reply =
  | { readonly kind: 'result'; readonly result: TaskResult }
  /** The worker works on it and posts its result later. */
  | { readonly kind: 'queued' }

/** What is kept of a reply that cannot be read. */
const RAW_MAX = 65_536

/** What a reply to a dispatch says. What cannot be read is an error, with the text as it came. */
export function readReply(text: string, { taskId, replySchema }: Asked): Reply {
  const objects = objectsInText(text)
  const results = objects.filter(({ type }) => type === 'TASK_RESULT')
  const own = results.findLast((one) => one['task_id'] === taskId) ?? results.at(-1)
  if (own === undefined) {
    if (text.includes(QUEUED)) return { kind: 'queued' }
    if (replySchema === 'prose') return prose(taskId, text)
    return malformed(taskId, text, 'the reply holds no TASK_RESULT')
  }
  if (replySchema === 'json' && !isJsonAlone(text, objects))
    return malformed(taskId, text, 'the reply is not JSON alone, as reply_schema asks')
  const read = readResult(own)
  if (!read.ok) return malformed(taskId, text, `${read.pointer}: ${read.problem}`)
  if (read.value.task_id !== taskId)
    return malformed(taskId, text, '/task_id: the result is one of another task')
  return { kind: 'result', result: read.value }
}

const prose = (taskId: string, text: string): Reply =>
  text.trim() === ''
    ? malformed(taskId, text, 'the reply is empty')
    : { kind: 'result', result: resultOf(taskId, 'done', { artifacts: { text } }) }

const malformed = (taskId: string, text: string, summary: string): Reply => ({
  kind: 'result',
  result: resultOf(taskId, 'error', {
    summary,
    artifacts: { raw_text: text.slice(0, RAW_MAX).toWellFormed() },
  }),
})

// A code fence around it is taken off by whoever reads JSON from agents, so it is no text of its own.
function isJsonAlone(text: string, objects: readonly JsonObject[]): boolean {
  const bare = text.trim().replace(/^```(?:json)?\s*\n/, '')
  const inner = bare.endsWith('```') ? bare.slice(0, -3).trim() : bare
  if (!inner.startsWith('{') || !inner.endsWith('}')) return false
  return objects.every(({ type }) => type === 'TASK_RESULT' || type === 'SESSION_ANNOUNCE')
}

/** Of which task the result in a text is; undefined where there is none. */
export function taskIdIn(text: string): string | undefined {
  const found = objectsInText(text).findLast(({ type }) => type === 'TASK_RESULT')
  return typeof found?.['task_id'] === 'string' ? found['task_id'] : undefined
}

/** The latest announcement in a text, or why it cannot be read; undefined where there is none. */
export function findAnnounce(
  text: string,
):
  | { readonly ok: true; readonly announce: SessionAnnounce }
  | ({ readonly ok: false } & SessionProblem)
  | undefined {
  const found = objectsInText(text).findLast(({ type }) => type === 'SESSION_ANNOUNCE')
  if (found === undefined) return undefined
  const read = readAnnounce(found)
  return read.ok ? { ok: true, announce: read.value } : read
}
