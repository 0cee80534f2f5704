// Where a list of tasks goes on: behind the task that the page before ended with, in the list of the same filter.
import { hash } from 'node:crypto'
import { invalidRequest } from './refusals.ts'

type Filter = Readonly<Record<string, string | undefined>>

const FORM = /^(\d{1,16})\.([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\.([0-9a-f]{12})$/

/** Short, for it only tells filters apart: a token grants nothing. */
const markOf = (filter: Filter): string => hash('sha256', JSON.stringify(filter)).slice(0, 12)

export const pageTokenOf = (
  { movedAt, taskId }: { readonly movedAt: Date; readonly taskId: string },
  filter: Filter,
): string => Buffer.from(`${movedAt.getTime()}.${taskId}.${markOf(filter)}`).toString('base64url')

/** The place that a token means; undefined is the beginning. */
export function readPageToken(token: string, filter: Filter) {
  if (token === '') return undefined
  const [, ms, taskId, mark] = FORM.exec(Buffer.from(token, 'base64url').toString()) ?? []
  if (taskId === undefined || mark !== markOf(filter)) throw INVALID
  return { ms: Number(ms), taskId }
}

const INVALID = invalidRequest(
  '/pageToken',
  'pageToken is none that a list with this filter gave',
  'Repeat the filter of the page that gave nextPageToken, or leave the token out to begin anew.',
)
