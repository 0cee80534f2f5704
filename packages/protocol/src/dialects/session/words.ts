// The session handshake's own names, figures and versions.

/** What `externalRef` of its handoffs says. */
export const SESSION = 'session'

export const PROTOCOL_VERSION = '2.0'
const MAJOR = '2'

export const PRIORITIES = ['urgent', 'high', 'normal', 'low'] as const
export type TaskPriority = (typeof PRIORITIES)[number]

export const REPLY_SCHEMAS = ['prose', 'structured', 'json'] as const
export type ReplySchema = (typeof REPLY_SCHEMAS)[number]

export const RESULT_STATUSES = ['done', 'blocked', 'error', 'partial'] as const
export type ResultStatus = (typeof RESULT_STATUSES)[number]

/** What a peer gets of a text at most, in UTF-16 code units; more is cut off. */
export const PROMPT_MAX = 262_144

/** What the first answer to long work contains. */
export const QUEUED = '[queued]'

/** Handoffs have the same four, as numbers: 0 is the most urgent (S11). */
export const priorityNumber = (priority: TaskPriority): number => PRIORITIES.indexOf(priority)

export const priorityWord = (priority: number): TaskPriority => PRIORITIES[priority] ?? 'normal'

/** How thoroughly a worker shall check its own work before it answers (S11). */
export const VERIFICATION_DEPTH: Readonly<Record<TaskPriority, 'full' | 'usual' | 'summary'>> = {
  urgent: 'full',
  high: 'full',
  normal: 'usual',
  low: 'summary',
}

/** Whether what a peer of this version says can be read: every minor version of one major version can (S19). */
export const isSameMajor = (version: string): boolean => /^(\d+)\.\d+$/.exec(version)?.[1] === MAJOR
