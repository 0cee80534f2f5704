// What a caller asks of its tasks, over Baton's own tables: no task lives in this process, so any gateway answers for all of them.
import { ListTasksResponse, Message, Task, taskStateToJSON } from '@a2a-js/sdk'
import type {
  AgentCard,
  ListTasksRequest,
  TaskState as SdkState,
  SendMessageRequest,
  StreamResponse,
} from '@a2a-js/sdk'
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requestCancel } from '@baton/engine'
import {
  HANDOFF_EXTENSION,
  isInterrupted,
  isTerminal,
  taskStateOf,
} from '@baton/protocol/dialects/a2a'
import type { AskedA2a, Shown, StoredTask, TaskState } from '@baton/protocol/dialects/a2a'
import { isUuid } from '@baton/protocol'
import type { JsonObject } from '@baton/protocol'
import { listA2aTasks, measureA2aContents } from '@baton/store'
import type { A2aStanding, Pool } from '@baton/store'
import { keyOf, operatorOf } from '../acting.ts'
import type { Scope } from '../api-keys.ts'
import { keyWithScope } from '../request-context.ts'
import type { StreamReaders } from '../streams/readers.ts'
import { continueTask } from './continue-task.ts'
import type { ContinueParts } from './continue-task.ts'
import { pageTokenOf, readPageToken } from './page-token.ts'
import { markOf } from './follow-tasks.ts'
import type { TaskFollowers } from './follow-tasks.ts'
import type { Pushes } from './pushes.ts'
import { readTask, readTasks, showTask } from './read-tasks.ts'
import { invalidRequest, TASK_UNKNOWN, taskClosed, taskEnded } from './refusals.ts'
import { readAsked, sendMessage } from './send-message.ts'
import type { SendParts } from './send-message.ts'
import { taskEvents } from './task-events.ts'
import type { Followed } from './task-events.ts'

export interface HandlerParts extends SendParts, ContinueParts {
  /** Of all tenants: to go on with what a caller was shown. */
  readonly pool: Pool
  /** Of the caller's. */
  readonly tenantPool: Pool
  readonly followers: TaskFollowers
  readonly readers: StreamReaders
  readonly pushes: Pushes
  /** How long an answer waits for the end of a task. */
  readonly waitMs: number
}

/** One call of one caller. */
export interface Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Whose endpoint was called; undefined is that of the instance. */
  readonly agentType: string | undefined
  readonly publicCard: () => Promise<AgentCard>
  readonly ownCard: () => Promise<AgentCard>
}

const PAGE_DEFAULT = 50
const PAGE_MAX = 100
const PAGE_BYTES_MAX = 4_194_304
const GRACE_MS = 5_000
/** Whoever reads for so long subscribes again: keys may have expired. */
const READ_MS = 900_000

export function createRequestHandler(parts: HandlerParts, call: Call): A2ARequestHandler {
  const { tenantPool } = parts
  const need = (scope: Scope) => keyWithScope(call.request.identified, scope)
  const show = async (task: StoredTask, shown: Shown) =>
    Task.fromJSON(await showTask(tenantPool, task, shown))
  return {
    getAgentCard: call.publicCard,
    async getAuthenticatedExtendedAgentCard() {
      need('handoffs:read')
      return call.ownCard()
    },
    async sendMessage({ message, configuration }, context) {
      need('handoffs:send')
      const shown = shownOf(context, configuration?.historyLength)
      const push = pushOf(parts, call, configuration)
      const taskId = await send(parts, call, message)
      await push?.(taskId)
      const { scopes } = keyOf(call.request)
      const artifacts = scopes.has('handoffs:read')
      if (artifacts && configuration?.returnImmediately !== true)
        await waitForEnd(parts, call, taskId)
      return show(await findTask(tenantPool, taskId), { ...shown, artifacts })
    },
    async *sendMessageStream({ message, configuration }, context) {
      need('handoffs:send')
      need('handoffs:read')
      const shown = shownOf(context, configuration?.historyLength)
      const push = pushOf(parts, call, configuration)
      const taskId = await send(parts, call, message)
      await push?.(taskId)
      const task = await findTask(tenantPool, taskId)
      yield* follow(parts, call, { task, shown, isSubscribed: false })
    },
    async getTask({ id, historyLength }, context) {
      need('handoffs:read')
      return show(await findTask(tenantPool, id), shownOf(context, historyLength))
    },
    async listTasks(asked, context) {
      need('handoffs:read')
      const { historyLength, includeArtifacts: artifacts = false } = asked
      return listTasks(tenantPool, asked, { ...shownOf(context, historyLength), artifacts })
    },
    async cancelTask({ id }, context) {
      const { scopes } = need('handoffs:cancel')
      await cancel(parts, call, id)
      const shown = { ...shownOf(context), artifacts: scopes.has('handoffs:read') }
      return show(await findTask(tenantPool, id), shown)
    },
    async *resubscribe({ id }, context) {
      need('handoffs:read')
      const task = await findTask(tenantPool, id)
      if (isTerminal(task.state)) throw taskClosed(task.state)
      yield* follow(parts, call, { task, shown: shownOf(context), isSubscribed: true })
    },
    ...pushMethods(parts, call),
  }
}

type PushMethods = Pick<
  A2ARequestHandler,
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig'
>

/** Whoever may read a task and send may be told of it: what is set up holds credentials, and outlives a key that only reads. */
function pushMethods({ tenantPool, pushes }: HandlerParts, { request }: Call): PushMethods {
  const need = async (taskId: string) => {
    keyWithScope(request.identified, 'handoffs:send')
    const { tenant } = keyWithScope(request.identified, 'handoffs:read')
    await findTask(tenantPool, taskId)
    return tenant
  }
  return {
    createTaskPushNotificationConfig: async (config) =>
      pushes.put(config, await need(config.taskId)),
    async getTaskPushNotificationConfig({ taskId, id }) {
      await need(taskId)
      return pushes.find(taskId, id)
    },
    async listTaskPushNotificationConfigs({ taskId }) {
      await need(taskId)
      return { configs: await pushes.list(taskId), nextPageToken: '' }
    },
    async deleteTaskPushNotificationConfig({ taskId, id }) {
      await need(taskId)
      await pushes.remove(taskId, id)
    },
  }
}

/** What came with a message: told from the beginning of its task. One that is refused is so before a task begins. */
function pushOf(
  { pushes }: HandlerParts,
  { request }: Call,
  configuration: SendMessageRequest['configuration'],
): ((taskId: string) => Promise<unknown>) | undefined {
  const given = configuration?.taskPushNotificationConfig
  if (given === undefined) return undefined
  const { tenant } = keyWithScope(request.identified, 'handoffs:read')
  const config = { ...given, id: given.id || PUSH_ID }
  pushes.require(config)
  return (taskId) => pushes.put({ ...config, taskId }, tenant)
}

/** Of the one that comes with a message and has no id: the same where the message comes again. */
const PUSH_ID = 'message'

/** What a caller is shown; whoever asked for the extension is answered with it. */
function shownOf(context: ServerCallContext, historyLength?: number): Shown {
  const extended = context.requestedExtensions?.includes(HANDOFF_EXTENSION) === true
  if (extended) context.addActivatedExtension(HANDOFF_EXTENSION)
  return { historyLength: historyOf(historyLength), artifacts: true, extended }
}

async function findTask(pool: Pool, id: string): Promise<StoredTask> {
  const task = isUuid(id) ? await readTask(pool, id) : undefined
  if (task === undefined) throw TASK_UNKNOWN
  return task
}

/** The id of the task that a message begins, or goes on with. */
async function send(
  parts: HandlerParts,
  { request, agentType }: Call,
  given: Message | undefined,
): Promise<string> {
  const message = Message.toJSON(given ?? Message.fromJSON({})) as JsonObject
  const asked = readAsked(message)
  if (asked.taskId !== '') {
    const task = await findContinued(parts, request, asked)
    await continueTask(parts, { request, message, asked, task })
    return task.taskId
  }
  const { taskId } = await sendMessage(parts, { request, agentType, message, asked })
  return taskId
}

async function findContinued(
  { tenantPool }: HandlerParts,
  { identified }: FastifyRequest,
  { taskId, contextId }: AskedA2a,
): Promise<StoredTask> {
  keyWithScope(identified, 'handoffs:read')
  const task = await findTask(tenantPool, taskId)
  if (contextId !== '' && contextId !== task.contextId) throw OTHER_CONTEXT
  return task
}

/** Until it has ended, needs somebody, or the wait is over. Whoever finds no place to wait is answered at once, and asks again. */
async function waitForEnd(
  { followers, readers, waitMs }: HandlerParts,
  { request, reply }: Call,
  taskId: string,
): Promise<void> {
  const place = placeOf(readers, keyOf(request).id)
  if (place === undefined) return
  const signal = AbortSignal.any([goneOf(reply), place.stopping, AbortSignal.timeout(waitMs)])
  try {
    let standing: A2aStanding | undefined
    do {
      const mark = standing === undefined ? '' : markOf(standing)
      standing = await followers.moved({ taskId, mark }, { signal, withinMs: waitMs })
    } while (standing !== undefined && !isSettled(taskStateOf(standing)))
  } finally {
    place.leave()
  }
}

function placeOf(readers: StreamReaders, keyId: string) {
  try {
    return readers.enter(keyId)
  } catch {
    return undefined
  }
}

function goneOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}

async function* follow(
  { pool, followers, readers }: HandlerParts,
  { request, reply }: Call,
  followed: Pick<Followed, 'task' | 'shown' | 'isSubscribed'>,
): AsyncGenerator<StreamResponse, void> {
  const reader = readers.enter(keyOf(request).id)
  const signal = AbortSignal.any([goneOf(reply), reader.stopping, AbortSignal.timeout(READ_MS)])
  try {
    yield* taskEvents({ pool, followers, signal, ...followed })
  } finally {
    reader.leave()
  }
}

async function listTasks(
  pool: Pool,
  asked: ListTasksRequest,
  shown: Shown,
): Promise<ListTasksResponse> {
  const { contextId, pageToken } = asked
  const status = stateAsked(asked.status)
  const pageSize = pageSizeOf(asked.pageSize)
  const since = timeOf(asked.statusTimestampAfter)
  const filter = { contextId, status, since: since?.toISOString() }
  const after = readPageToken(pageToken, filter)
  const all = await listA2aTasks(pool, { contextId: contextId || undefined, since })
  const found = all.filter((one) => status === undefined || taskStateOf(one) === status)
  const rest = after === undefined ? found : found.filter((one) => isBehind(one, after))
  const page = await inBytes(pool, rest.slice(0, pageSize), shown.artifacts)
  const tasks = await readTasks(pool, page, shown.historyLength ?? Infinity)
  const last = rest.length > page.length ? page.at(-1) : undefined
  return ListTasksResponse.fromJSON({
    tasks: await Promise.all(tasks.map((one) => showTask(pool, one, shown))),
    nextPageToken: last === undefined ? '' : pageTokenOf(last, filter),
    pageSize,
    totalSize: found.length,
  })
}

/** Of these tasks, as many as a page holds. */
async function inBytes(
  pool: Pool,
  standings: readonly A2aStanding[],
  withStreams: boolean,
): Promise<readonly A2aStanding[]> {
  const ids = standings.map(({ taskId }) => taskId)
  const sizes = await measureA2aContents(pool, ids, withStreams)
  let bytes = 0
  const end = standings.findIndex(({ taskId }, index) => {
    bytes += sizes.get(taskId) ?? 0
    return index > 0 && bytes > PAGE_BYTES_MAX
  })
  return end === -1 ? standings : standings.slice(0, end)
}

async function cancel(
  { tenantPool, logger }: HandlerParts,
  { request }: Call,
  taskId: string,
): Promise<void> {
  const task = await findTask(tenantPool, taskId)
  if (isTerminal(task.state)) throw taskEnded(task.state)
  const actor = operatorOf(request)
  const outcome = await requestCancel(tenantPool, { taskId, graceMs: GRACE_MS, actor })
  if (outcome.kind === 'unknown') throw TASK_UNKNOWN
  if (outcome.kind === 'ended') throw taskEnded(outcome.state)
  const { ended, stopping, repeated } = outcome
  const counts = { ended: ended.length, stopping: stopping.length }
  logger.info({ event: 'cancel.requested', taskId, actor, ...counts, repeated })
}

const isSettled = (state: TaskState): boolean => isTerminal(state) || isInterrupted(state)

function historyOf(length: number | undefined): number | undefined {
  if (length === undefined) return undefined
  if (Number.isInteger(length) && length >= 0) return length
  throw invalidRequest('/historyLength', 'historyLength is no whole number', 'Give 0 or more.')
}

function pageSizeOf(size: number | undefined): number {
  if (size === undefined) return PAGE_DEFAULT
  if (Number.isInteger(size) && size >= 1 && size <= PAGE_MAX) return size
  throw invalidRequest(
    '/pageSize',
    `pageSize is no whole number from 1 to ${PAGE_MAX}`,
    'Give one, or leave it out.',
  )
}

function stateAsked(state: SdkState): TaskState | undefined {
  if (state === 0) return undefined
  const name = taskStateToJSON(state)
  if (name !== 'UNRECOGNIZED') return name as TaskState
  throw invalidRequest(
    '/status',
    'status is no state of a task',
    'Use one such as TASK_STATE_WORKING.',
  )
}

function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  throw invalidRequest(
    '/statusTimestampAfter',
    'statusTimestampAfter is no time',
    'Use one such as 2026-11-23T01:02:03Z.',
  )
}

const isBehind = (
  { movedAt, taskId }: A2aStanding,
  after: { readonly ms: number; readonly taskId: string },
): boolean =>
  movedAt.getTime() < after.ms || (movedAt.getTime() === after.ms && taskId < after.taskId)

const OTHER_CONTEXT = invalidRequest(
  '/message/contextId',
  'the task is of another context',
  'Leave out contextId, or give that of the task.',
)
