// The problem of an id that is nobody's.
import { ProblemError } from '@baton/http/server'

export const notFound = (what: 'handoff' | 'task') =>
  new ProblemError({
    status: 404,
    code: what === 'task' ? 'BATON_TASK_UNKNOWN' : 'BATON_HANDOFF_UNKNOWN',
    detail: `there is no ${what} with this id`,
    fix: `Use the ${what}Id that POST /v2/handoffs answered.`,
  })
