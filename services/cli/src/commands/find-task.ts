// A person names a task by its id or by the first digits of it.
import { permanent } from '@baton/runtime'
import { findTaskIds } from '@baton/store'
import type { Pool } from '@baton/store'
import { nextStep } from '../terminal/next-steps.ts'

const DIGITS = /^[0-9a-f]{4,32}$/
const FULL = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The whole task id. A whole id is not looked up: the audit log may know tasks that are gone from the
 * operational database. Throws BATON_USAGE or BATON_TASK_NOT_FOUND.
 */
export async function findTask(pool: Pool, text: string): Promise<string> {
  const given = text.trim().toLowerCase()
  if (FULL.test(given)) return given
  if (!DIGITS.test(given.replaceAll('-', ''))) throw notAnId(text)
  const [found, second] = await findTaskIds(pool, given)
  if (found === undefined) throw taskNotFound(text)
  if (second === undefined) return found
  throw permanent(
    'BATON_USAGE',
    `several tasks start with ${text}, such as ${found} and ${second}`,
    {
      fix: 'Give more digits.',
    },
  )
}

export const taskNotFound = (text: string) =>
  permanent('BATON_TASK_NOT_FOUND', `there is no task ${text}`, {
    fix: `\`${nextStep('tasks')}\` lists them.`,
  })

const notAnId = (text: string) =>
  permanent('BATON_USAGE', `${JSON.stringify(text)} is not a task id`, {
    fix: 'Give a UUID, or at least its first 4 hexadecimal digits.',
  })
