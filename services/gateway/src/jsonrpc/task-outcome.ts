// How a handoff that came in over a session stands, as its peer is told.
import { countTokens } from '@baton/protocol'
import { SESSION, toProse, toResult } from '@baton/protocol/dialects/session'
import { findForeignHandoffs } from '@baton/store'
import type { ForeignHandoff, Pool, SessionReply } from '@baton/store'

/** The text of the reply; undefined while there is no outcome. */
export async function findOutcome(
  pool: Pool,
  { handoffId, taskId, replySchema }: Pick<SessionReply, 'handoffId' | 'taskId' | 'replySchema'>,
): Promise<string | undefined> {
  const [stored] = await findForeignHandoffs(pool, SESSION, [handoffId])
  if (stored === undefined) return undefined
  const result = toResult(taskId, stored, spentBy(stored))
  if (result === undefined) return undefined
  return replySchema === 'prose' ? toProse(result) : JSON.stringify(result)
}

// What went in and what came out; nothing was spent on what was not begun.
function spentBy({ acceptedAt, erasedAt, body, result }: ForeignHandoff): number {
  if (acceptedAt === null || erasedAt !== null) return 0
  const { currentState = {}, personalDataPayload = {} } = JSON.parse(body.toString('utf8')) as {
    currentState?: { brief?: string }
    personalDataPayload?: Record<string, { value?: string }>
  }
  const apart = personalDataPayload['/currentState/brief']?.value
  return countTokens(`${apart ?? currentState.brief ?? ''}${JSON.stringify(result ?? '')}`)
}
