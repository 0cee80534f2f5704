// Peers of the session handshake: an orchestrator that asks and is told the outcome, and a worker that is asked and tells it.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { foreignUuid } from '@baton/protocol/dialects/foreign-id'
import { externalId, QUEUED, SESSION } from '@baton/protocol/dialects/session'
import type { SeededRandom } from '@baton/testkit'
import type { Channel, Sent } from './channels.ts'
import { pause } from './fault.ts'
import type { PeerLedger } from './peer-ledger.ts'
import { bodyOf } from './peer-server.ts'

export const ORCHESTRATOR = 'orchestrator'
export const WORKER = 'worker'

/** The task that Baton makes of the orchestrator's task of this id. */
export const sessionTask = (id: string): string =>
  foreignUuid(SESSION, 'task', externalId(ORCHESTRATOR, id))

interface SessionOptions {
  /** Of the gateway, through its link. */
  readonly url: string
  readonly tokens: Readonly<Record<typeof ORCHESTRATOR | typeof WORKER, string>>
  readonly ledger: PeerLedger
  readonly random: SeededRandom
}

interface Said {
  readonly messageId?: string
  readonly contextId: string
  readonly parts: readonly { readonly text: string }[]
}

interface RpcAnswer {
  readonly error?: { readonly code: number }
  readonly result?: { readonly message: Said & { readonly messageId: string } }
}

const ANSWER_MAX_MS = 6_000

interface Saying {
  readonly token: string
  readonly role: 'user' | 'agent'
  readonly contextId: string
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer; undefined where there was none that can be read. */
async function say(
  url: string,
  { token, headers = {}, role, contextId, text }: Saying,
): Promise<RpcAnswer | undefined> {
  const message = { role, contextId, parts: [{ text }] }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  try {
    const response = await fetch(new URL('/jsonrpc', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MAX_MS),
    })
    return (await response.json()) as RpcAnswer
  } catch {
    return undefined
  }
}

interface Result {
  readonly type: string
  readonly task_id: string
  readonly status: string
}

function resultIn(parts: Said['parts']): Result | undefined {
  const objects = parts
    .filter(({ text }) => text.startsWith('{'))
    .map(({ text }) => JSON.parse(text) as Result)
  return objects.find(({ type }) => type === 'TASK_RESULT')
}

/** Invalid parameters: nothing is stored. */
const REFUSED = -32602

/** Dispatches a task as the orchestrator; asking again for the same task is the same request. */
export const createSessionChannel = ({ url, tokens, ledger }: SessionOptions): Channel => ({
  async send({ state }): Promise<Sent> {
    const id = state.handoffId
    const answer = await say(url, {
      token: tokens[ORCHESTRATOR],
      role: 'user',
      contextId: `context-${id}`,
      headers: { traceparent: state.traceparent },
      text: JSON.stringify({
        type: 'TASK_DISPATCH',
        protocol_version: '2.0',
        task: { task_id: id, priority: 'normal', reply_schema: 'structured', token_budget: 4_000 },
        requirements: { required_mcp: [], required_capabilities: [] },
        deadline: null,
        brief: 'Do the first step',
      }),
    })
    if (answer?.error !== undefined)
      return { what: answer.error.code === REFUSED ? 'fail' : 'info', code: `${answer.error.code}` }
    const message = answer?.result?.message
    if (message === undefined) return { what: 'info', code: 'unanswered' }
    const { parts, messageId } = message
    const status = resultIn(parts)?.status ?? 'queued'
    if (status === 'queued' && !parts.some(({ text }) => text.includes(QUEUED)))
      return { what: 'info', code: 'unreadable' }
    ledger.told({ taskId: state.taskId, status, messageId, how: 'answered' })
    return { what: 'ok', code: status }
  },
})

/** Of pushed replies so many are refused, and of so many the answer is lost after they were taken. */
const REFUSING_SHARE = 0.2
const LOSING_SHARE = 0.05

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

const answerText = (response: ServerResponse, text: string): void => {
  const message = { role: 'agent', messageId: randomUUID(), parts: [{ text }] }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { kind: 'message', message } }))
}

const readSaid = async (request: IncomingMessage): Promise<Said> =>
  (JSON.parse(await bodyOf(request)) as { params: { message: Said } }).params.message

/** Where the orchestrator is told what came of its tasks. */
export const createReplyTaker =
  ({ ledger, random }: SessionOptions): Handler =>
  async (request, response) => {
    const { messageId = '', contextId, parts } = await readSaid(request)
    // Each gateway that starts says who works there.
    if (contextId.startsWith('handshake:')) return answerText(response, 'received')
    const fate = random.next()
    if (fate < REFUSING_SHARE) return void response.writeHead(503).end()
    const { task_id, status } = resultIn(parts) ?? { task_id: '', status: 'unreadable' }
    ledger.told({ taskId: sessionTask(task_id), status, messageId, how: 'pushed' })
    if (fate < REFUSING_SHARE + LOSING_SHARE) return void request.socket.destroy()
    answerText(response, 'received')
  }

/** Of first dispatches of a handoff so many are refused; of all, so many are worked on after the answer. */
const OVERLOADED_SHARE = 0.08
const LATER_SHARE = 0.5
const WORK_MS = { min: 5, max: 400 }
const POST_TRIES = 20
const PAUSE_MS = 200

export interface SessionWorker {
  readonly handle: Handler
  /** Resolves once everything that it has finished is told, or was tried for long enough. */
  stop(): Promise<void>
}

export function createSessionWorker({
  url,
  tokens,
  ledger,
  random,
}: SessionOptions): SessionWorker {
  const known = new Set<string>()
  const working = new Set<Promise<void>>()

  /** What it says came of a handoff; written down before anybody is told. */
  async function finish(handoffId: string): Promise<string> {
    await pause(random.integer(WORK_MS.min, WORK_MS.max))
    const said = randomUUID()
    ledger.done({ what: 'finished', handoffId, said })
    return JSON.stringify({
      type: 'TASK_RESULT',
      protocol_version: '2.0',
      task_id: handoffId,
      status: 'done',
      tokens_spent: 10,
      next_steps: [],
      blocked_reason: null,
      artifacts: { said },
    })
  }

  // What the gateway has taken or refused is not told again.
  async function tellLater(handoffId: string, contextId: string): Promise<void> {
    const text = await finish(handoffId)
    for (let tried = 0; tried < POST_TRIES; tried += 1) {
      const answer = await say(url, { token: tokens[WORKER], role: 'agent', contextId, text })
      if (answer !== undefined) return
      await pause(PAUSE_MS)
    }
  }

  return {
    async handle(request, response) {
      const { messageId: handoffId = '', contextId } = await readSaid(request)
      const isFirst = !known.has(handoffId)
      known.add(handoffId)
      if (isFirst && random.next() < OVERLOADED_SHARE) return void response.writeHead(503).end()
      ledger.done({ what: 'given', handoffId })
      if (random.next() >= LATER_SHARE) return answerText(response, await finish(handoffId))
      answerText(response, `${QUEUED} it follows`)
      const telling = tellLater(handoffId, contextId).finally(() => working.delete(telling))
      working.add(telling)
    },
    async stop() {
      await Promise.all(working)
    },
  }
}
