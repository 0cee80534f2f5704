// What people do over HTTP while everything runs: approve, cancel, release dead letters, correct what came back.
import { createApiKey } from '@baton/gateway'
import type { Pool } from '@baton/store'
import { fetchSigned } from '@baton/testkit'

/** The sender's own operator and two who may review; each acts with a key of their own. */
const OPERATORS = ['driver', 'reviewer-1', 'reviewer-2'] as const
type Operator = (typeof OPERATORS)[number]
const SCOPES = [
  'handoffs:send',
  'handoffs:send-critical',
  'handoffs:read',
  'handoffs:return',
  'handoffs:cancel',
  'executions:claim',
  'approvals:decide',
  'dead-letters:review',
].join('+')

export interface People {
  /** Whose key `driverKey` is. */
  readonly driver: string
  /** For BATON_API_KEYS. */
  readonly entries: string
  /** The key that the driver sends with. */
  readonly driverKey: string
  /** Approves what waits, and refuses about one in five; answers how many. */
  decideApprovals(): Promise<number>
  /** Cancels some of the newest handoffs that are still open, and as many tasks that have fanned out. */
  cancelSome(count: number): Promise<number>
  /** Two reviewers release the same dead letters; both say so twice. */
  releaseSome(count: number): Promise<number>
  /** Takes what came back to the driver and sends it again with what was missing. */
  correctReturns(): Promise<number>
}

interface PeopleOptions {
  readonly url: string
  /** Past the gateway: what there is to act on. */
  readonly admin: Pool
}

const ANSWER_MAX_MS = 6_000
const CANCELABLE = `select id from handoff where ended_at is null and parent_id is null
  and to_agent in ('chain', 'last', 'trio', 'streamed') order by created_at desc limit $1`
const FANNED_OUT = `select task_id as id from fan_out where state = 'OPEN' order by created_at desc limit $1`
const RELEASABLE = `select handoff_id as id from dead_letter
  where resolved_at is null and reason = 'SAFETY_VIOLATION' order by created_at limit $1`
const SAVED = `select convert_from(c.body, 'UTF8')::json -> 'request' -> 'agentState' as state,
    h.revision from handoff h join checkpoint c on c.id = h.checkpoint_id where h.id = $1`

export function createPeople({ url, admin }: PeopleOptions): People {
  const keys = new Map(
    OPERATORS.map((operator) => [operator, createApiKey({ scopes: SCOPES, operator })]),
  )

  /** The answer's body; undefined where there was none that says yes. What is unknown stays so. */
  async function ask(
    operator: Operator,
    path: string,
    body?: object,
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<Answer | undefined> {
    try {
      const response = await fetchSigned(new URL(path, url), {
        method,
        headers: {
          authorization: `Bearer ${keys.get(operator)?.key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_MAX_MS),
      })
      const answer = (await response.json()) as Answer
      return response.ok ? answer : undefined
    } catch {
      return undefined
    }
  }

  const idsOf = async (text: string, count: number): Promise<readonly string[]> => {
    const { rows } = await admin.query<{ id: string }>({ text, values: [count] })
    return rows.map(({ id }) => id)
  }
  const countYes = (answers: readonly (Answer | undefined)[]): number =>
    answers.filter((answer) => answer !== undefined).length

  async function correct({ handoffId }: Notice): Promise<Answer | undefined> {
    const { rows } = await admin.query<{ state: State | null; revision: number }>({
      text: SAVED,
      values: [handoffId],
    })
    const [saved] = rows
    // A ready message was signed by its sender; only what was built from a state can be built anew here.
    if (saved === undefined || saved.state === null) return undefined
    const { traceparent: _, ...state } = saved.state
    return ask('driver', `/v2/handoffs/${handoffId}/revisions`, {
      revision: saved.revision + 1,
      agentState: { ...state, currentState: { ...state.currentState, text: 'what was missing' } },
    })
  }

  return {
    driver: 'driver',
    entries: [...keys.values()].map(({ entry }) => entry).join(','),
    driverKey: keys.get('driver')?.key ?? '',
    async decideApprovals() {
      const waiting = await ask('reviewer-1', '/v2/approvals?limit=50')
      const decisions = (waiting?.approvals ?? []).map(({ handoffId }) => {
        const decision = handoffId < '2' ? 'reject' : 'approve'
        // Any handoff can be decided about by the Handoffs API as well.
        return handoffId.slice(1) < '8'
          ? ask('reviewer-1', `/api/handoffs/${handoffId}`, { action: decision }, 'PATCH')
          : ask('reviewer-1', `/v2/approvals/${handoffId}`, { decision })
      })
      return countYes(await Promise.all(decisions))
    },
    async cancelSome(count) {
      const ids = await idsOf(CANCELABLE, count)
      const asked = ids.map((id) =>
        ask('driver', `/v2/handoffs/${id}/cancel`, { graceMs: id < '8' ? 0 : 1_000 }),
      )
      const tasks = await idsOf(FANNED_OUT, count)
      const whole = tasks.map((id) => ask('driver', `/v2/tasks/${id}/cancel`, { graceMs: 0 }))
      return countYes(await Promise.all([...asked, ...whole]))
    },
    async releaseSome(count) {
      const ids = await idsOf(RELEASABLE, count)
      const votes = ids.flatMap((id) =>
        (['reviewer-1', 'reviewer-2', 'reviewer-2', 'reviewer-1'] as const).map((operator) =>
          ask(operator, `/v2/dead-letters/${id}/release`, {}),
        ),
      )
      return countYes(await Promise.all(votes))
    },
    async correctReturns() {
      const taken = await ask('driver', '/v2/returns/take', {
        agents: ['driver'],
        kinds: ['return'],
      })
      return countYes(await Promise.all((taken?.notices ?? []).map(correct)))
    },
  }
}

interface Notice {
  readonly handoffId: string
}

interface State {
  readonly traceparent: string
  readonly currentState: object
}

interface Answer {
  readonly approvals?: readonly Notice[]
  readonly notices?: readonly Notice[]
}
