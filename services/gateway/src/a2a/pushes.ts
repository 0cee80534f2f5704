// Push notifications: callers name where they want to be told of a task, and are told there, also after a restart, until they took its end.
import { randomUUID } from 'node:crypto'
import { StreamResponse, TaskPushNotificationConfig } from '@a2a-js/sdk'
import { createEventSecrets, createWebhookSender, nextTryMs, roomLeft } from '@baton/engine'
import type { EventSecrets, WebhookSender } from '@baton/engine'
import { ProblemError } from '@baton/http/server'
import { createEndpointFetch } from '@baton/http/endpoint'
import { isTerminal, taskStateOf, toStatus } from '@baton/protocol/dialects/a2a'
import type { JsonObject } from '@baton/protocol'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service, Tls } from '@baton/runtime'
import {
  claimA2aPushes,
  forgetA2aPushes,
  listA2aPushes,
  listA2aStandings,
  noteA2aPush,
  postponeA2aPush,
  putA2aPush,
  removeA2aPush,
} from '@baton/store'
import type { A2aPush, A2aStanding, DueA2aPush, Pool } from '@baton/store'
import { EVENTS_DEFAULTS } from '../events/events-options.ts'
import type { EventsOptions } from '../events/events-options.ts'
import { readTask, showTask, storedTask } from './read-tasks.ts'
import { A2A_TYPE, invalidRequest, TASK_UNKNOWN } from './refusals.ts'

interface PushParts {
  /** By what secrets are encrypted, and how long anybody is tried. */
  readonly events?: EventsOptions | undefined
  /** Of all tenants. */
  readonly pool: Pool
  /** Of the caller's. */
  readonly tenantPool: Pool
  readonly tls?: Tls | undefined
  readonly logger: Logger
}

export interface Pushes extends Service {
  /** Whether anybody is told here: the secrets of configurations need a key. */
  readonly offered: boolean
  /** Throws where a configuration is none that is taken. */
  require(config: TaskPushNotificationConfig): void
  put(config: TaskPushNotificationConfig, tenant: string): Promise<TaskPushNotificationConfig>
  list(taskId: string): Promise<TaskPushNotificationConfig[]>
  find(taskId: string, id: string): Promise<TaskPushNotificationConfig>
  remove(taskId: string, id: string): Promise<void>
}

const LOOK_MS = 500
/** How many this process tells at once, and of these how many may be one tenant's. */
const SHARES = { atOnce: 32, perTenant: 8 }
const LEASE_SPARE_MS = 20_000
const FORGET_MS = 600_000
/** Of one task. */
const CONFIGS_MAX = 10
const URL_MAX = 2_048
const BODY_BYTES_MAX = 1_048_576
/** Printable, and no end of a line: it becomes a header. */
const SECRET = /^[\x20-\x7e]{0,4096}$/
const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,31}$/

export function createPushes({ events, pool, tenantPool, tls, logger }: PushParts): Pushes {
  const { privateOrigins, callMs, endMs, secretsKey } = { ...EVENTS_DEFAULTS, ...events }
  const secrets = secretsKey === undefined ? undefined : createEventSecrets(secretsKey)
  const sender = createWebhookSender({ tls, callMs })
  const allows = (url: string) => privateOrigins.has(new URL(url).origin)
  const needed = (): EventSecrets => {
    if (secrets === undefined) throw NOT_OFFERED
    return secrets
  }
  const reading = (push: A2aPush) => configOf(push, needed())
  const telling = { pool, sender, endMs, allows, reading, logger }
  const turns = new Map<string, { readonly tenant: string; readonly turn: Promise<void> }>()
  let forgetAt = 0
  // One that fails holds back no other; its lease ends by itself.
  const failed = (error: unknown) => logger.warn({ event: 'a2a.push_failed', code: codeOf(error) })

  const looks = every({
    name: 'a2a pushes',
    everyMs: LOOK_MS,
    async run(signal) {
      const { without, limit } = roomLeft(turns.values(), SHARES)
      const claim = { limit, leaseMs: callMs + LEASE_SPARE_MS, without }
      const due = limit > 0 ? await claimA2aPushes(pool, claim) : []
      for (const one of due) {
        const key = JSON.stringify([one.taskId, one.id])
        const turn = tell(telling, one, signal)
          .catch(failed)
          .finally(() => {
            turns.delete(key)
            looks.wake()
          })
        turns.set(key, { tenant: one.tenant, turn })
      }
      if (performance.now() >= forgetAt) {
        forgetAt = performance.now() + FORGET_MS
        await forgetA2aPushes(pool)
      }
      return limit > 0 && due.length === limit ? 0 : LOOK_MS
    },
    failed: (error) => logger.warn({ event: 'a2a.pushes_unread', code: codeOf(error) }),
  })

  return {
    name: 'a2a pushes',
    offered: secrets !== undefined,
    start: async () => (secrets === undefined ? undefined : looks.start()),
    async stop() {
      await looks.stop()
      await Promise.all([...turns.values()].map(({ turn }) => turn))
      sender.close()
    },
    require: (config) => requireTaken(config, needed, allows),
    async put(config, tenant) {
      const { taskId, url, token, authentication } = config
      const id = config.id || randomUUID()
      requireConfig({ ...config, id }, allows)
      const known = await listA2aPushes(tenantPool, taskId)
      if (known.length >= CONFIGS_MAX && !known.some((one) => one.id === id)) throw FULL
      const secret = needed().encrypt(JSON.stringify({ token, authentication }), taskId)
      await putA2aPush(tenantPool, { taskId, id, tenant, url, secret })
      return { ...config, id, tenant: '' }
    },
    list: async (taskId) => {
      needed()
      return (await listA2aPushes(tenantPool, taskId)).map(reading)
    },
    async find(taskId, id) {
      const push = (await listA2aPushes(tenantPool, taskId)).find((one) => one.id === id)
      if (push === undefined) throw TASK_UNKNOWN
      return reading(push)
    },
    async remove(taskId, id) {
      needed()
      await removeA2aPush(tenantPool, { taskId, id })
    },
  }
}

interface TellParts {
  readonly pool: Pool
  readonly sender: WebhookSender
  readonly endMs: number
  readonly allows: (url: string) => boolean
  readonly reading: (push: A2aPush) => TaskPushNotificationConfig
  readonly logger: Logger
}

/** Tells one of how its task stands now. */
async function tell(
  { pool, sender, endMs, allows, reading, logger }: TellParts,
  due: DueA2aPush,
  signal: AbortSignal,
): Promise<void> {
  const [standing] = await listA2aStandings(pool, [due.taskId])
  if (standing === undefined) return
  const state = taskStateOf(standing)
  const { taskId, id, secret } = due
  const told = { taskId, id, secret, state, movedAtExact: standing.movedAtExact }
  const isEnd = isTerminal(state)
  if (state === due.told) return noteA2aPush(pool, { ...told, isEnd })
  const sent = await sender.send(
    {
      target: { url: due.url, allowPrivate: allows(due.url) },
      id: `${due.taskId}.${due.id}.${standing.handoffId}.${state}`,
      body: await bodyOf(pool, standing),
      contentType: A2A_TYPE,
      headers: headersOf(reading(due)),
      secrets: [],
    },
    signal,
  )
  if (sent.ok) return noteA2aPush(pool, { ...told, isEnd })
  const againInMs = Math.max(sent.retryAfterMs, nextTryMs(due.attempts + 1, Math.random()))
  const { code, isGone } = sent
  const untold = { taskId, id, secret, code, againInMs, endMs, isGone }
  const over = await postponeA2aPush(pool, untold)
  logger.warn({ event: 'a2a.push_untold', taskId: due.taskId, code, over })
}

function configOf(
  { taskId, id, url, secret }: A2aPush,
  secrets: EventSecrets,
): TaskPushNotificationConfig {
  const said = JSON.parse(secrets.decrypt(secret, taskId)) as object
  return TaskPushNotificationConfig.fromJSON({ taskId, id, url, ...said })
}

function requireTaken(
  config: TaskPushNotificationConfig,
  needed: () => EventSecrets,
  allows: (url: string) => boolean,
): void {
  needed()
  requireConfig(config, allows)
}

function requireConfig(
  { id, url, token, authentication }: TaskPushNotificationConfig,
  allows: (url: string) => boolean,
): void {
  if (!/^[^\p{Cc}\p{Cs}]{1,256}$/u.test(id))
    throw invalidRequest('/id', 'id is no id', 'Give 1 to 256 characters, or leave it out.')
  const isFine = authentication === undefined || SCHEME.test(authentication.scheme)
  if (!SECRET.test(token) || !SECRET.test(authentication?.credentials ?? '') || !isFine)
    throw invalidRequest(
      '/authentication',
      'token, scheme or credentials can stand in no header',
      'Give printable ASCII characters, 4,096 at most.',
    )
  if (url.length > URL_MAX || !URL.canParse(url) || !isCallable(url, allows(url))) throw ADDRESS
}

function isCallable(url: string, allowPrivate: boolean): boolean {
  const checking = createEndpointFetch({ allowPrivate, answerBytesMax: 0, silentMs: 1 })
  try {
    checking.check(url)
    return true
  } catch {
    return false
  } finally {
    checking.close()
  }
}

/** As the SDK's own sender has them. */
function headersOf({ token, authentication }: TaskPushNotificationConfig): Record<string, string> {
  const { scheme = '', credentials = '' } = authentication ?? {}
  return {
    ...(scheme === '' || credentials === '' ? {} : { authorization: `${scheme} ${credentials}` }),
    ...(token === '' ? {} : { 'x-a2a-notification-token': token }),
  }
}

/** The whole task once it has ended, else how it stands. */
async function bodyOf(pool: Pool, standing: A2aStanding): Promise<string> {
  const { taskId, contextId } = standing
  const write = (json: JsonObject) =>
    JSON.stringify(StreamResponse.toJSON(StreamResponse.fromJSON(json)))
  const task = isTerminal(taskStateOf(standing)) ? await readTask(pool, taskId) : undefined
  const status = write({
    statusUpdate: { taskId, contextId, status: toStatus(task ?? storedTask(standing)) },
  })
  if (task === undefined) return status
  const shown = { historyLength: undefined, artifacts: true, extended: false }
  const whole = write({ task: await showTask(pool, task, shown) })
  return Buffer.byteLength(whole) > BODY_BYTES_MAX ? status : whole
}

const NOT_OFFERED = new ProblemError({
  status: 400,
  code: 'BATON_A2A_PUSH_REFUSED',
  detail:
    'this gateway pushes nothing, because it has no key for the secrets of those who are told',
  fix: 'Set BATON_EVENT_SECRETS_KEY, or subscribe to the task.',
})

const FULL = invalidRequest(
  '/id',
  `the task has ${CONFIGS_MAX} push notification configurations, as many as it may`,
  'Delete one first.',
)

const ADDRESS = invalidRequest(
  '/url',
  'the address may not be called',
  'Give an https address of the public internet; the operator names others in BATON_EVENTS_PRIVATE_TARGETS.',
)
