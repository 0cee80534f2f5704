// Arbitrary API calls of a tenant: every route, with ids of its own, of another and of nobody, and bodies that are valid or not.
import { randomUUID } from 'node:crypto'
import type { SeededRandom } from '@baton/testkit'
import { stateBody } from './gateway-fixture.ts'
import type { Party } from './tenant-world.ts'

/** Whose ids a call names: `mixed` names own ones and the other's in one set. */
export type Whose = 'own' | 'other' | 'nobody' | 'mixed'

export const KINDS = ['task', 'handoff', 'thing'] as const
/** What an id is of; a thing is a re-drive, a notice, an erasure or whatever else has one. */
export type Kind = (typeof KINDS)[number]

export interface Call {
  readonly route: string
  readonly whose: Whose
  readonly headers: Readonly<Record<string, string>>
  /** The path and the body, in which each id stands as its place: `@@0@@`. */
  readonly url: string
  readonly payload: string | undefined
  /** What stands at each place, and which id of nobody's could as well. */
  readonly places: readonly Place[]
  /** What the call itself says of others: an answer may say it again. */
  readonly mentions: readonly string[]
}

interface Place {
  readonly id: string
  readonly nobodys: string
  /** Whether the first is the other's. */
  readonly isOthers: boolean
}

/** What a call can be made of. */
export interface Source {
  readonly random: SeededRandom
  readonly caller: Party
  readonly other: Party
  /** Some id of a party, or of nobody where it has none. */
  idOf(party: Party, kind: Kind): string
}

interface Draft {
  readonly url?: string
  readonly payload?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** What drafts are filled from. */
interface Filling extends Source {
  /** The place of an id, of whom the call is about. */
  id(kind: Kind): string
  /** The place of an id that nothing has yet. */
  fresh(): string
  /** The name of an agent; now and then of the other's. */
  agent(name: string): string
  chance(share: number): boolean
}

const TRACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const SUBJECTS = ['patient-1', 'patient-2']
const WORDS = ['SAFETY_VIOLATION', 'other', 'x', '0', '']

function stateOf(f: Filling): object {
  const { caller, random, chance } = f
  return {
    taskId: chance(0.4) ? f.id('task') : f.fresh(),
    handoffId: chance(0.2) ? f.id('handoff') : f.fresh(),
    ...(chance(0.3) ? { parentHandoffId: f.id('handoff') } : {}),
    agent: { agentId: f.agent('intake'), agentVersion: '1.0.0' },
    traceparent: TRACE,
    currentState: { document: `of ${caller.mark}` },
    ...(chance(0.3)
      ? {
          dataSubjects: [random.pick(SUBJECTS)],
          personalDataPayload: { name: `somebody of ${caller.mark}` },
        }
      : {}),
  }
}

function sending(f: Filling): Draft {
  const { random, chance } = f
  const state = chance(0.9) ? stateOf(f) : { taskId: f.fresh(), cost: f.id('handoff') }
  const constraints = {
    ...(chance(0.3) ? { requiresApproval: true } : {}),
    ...(chance(0.1) ? { receiverList: [f.agent('reader'), f.agent('intake')].map(typed) } : {}),
  }
  return {
    payload: stateBody(state, { targetAgentType: f.agent('reader'), constraints }),
    headers: chance(0.2) ? { 'idempotency-key': `key-${random.integer(1, 4)}` } : {},
  }
}

const typed = (agentType: string) => ({ agentType })

const some = (f: Filling, kind: Kind): string[] =>
  Array.from({ length: f.random.integer(1, 3) }, () => f.id(kind))

const fences = (f: Filling, outcome: object = {}) => ({
  executions: some(f, 'handoff').map((handoffId) => ({ handoffId, fencingToken: 1, ...outcome })),
})

const outcomeOf = ({ caller, random, agent }: Filling): object =>
  random.pick([
    { outcome: 'complete', result: `of ${caller.mark}` },
    { outcome: 'complete', next: [{ to: agent('reader'), taskDescription: 'go on' }] },
    { outcome: 'partial', remaining: [{ subtaskId: 'a', description: 'b' }], result: 1 },
    { outcome: 'fail', code: 'X', retry: false },
    { outcome: 'reject', code: 'X' },
  ])

const filterOf = ({ random, agent }: Filling): object =>
  random.pick([
    { reason: random.pick(WORDS.slice(0, 2)) },
    { fromPrefix: agent('').slice(0, -1) },
    { toPrefix: agent('') },
    { before: '2100-01-01T00:00:00Z' },
  ])

const listed = ({ random, id, agent, chance }: Filling): Draft => {
  const queries = [
    `limit=${random.integer(1, 1000)}`,
    `idPrefix=${id('task')}`,
    `reason=${random.pick(WORDS)}`,
    `cluster=${random.pick(WORDS)}`,
    `fromPrefix=${encodeURIComponent(agent(''))}`,
    `toPrefix=${encodeURIComponent(agent('rea'))}`,
    `profileId=${encodeURIComponent(agent('reader'))}`,
    `state=open`,
  ]
  return chance(0.5) ? { url: `?${random.pick(queries)}` } : {}
}

const EMPTY = (): Draft => ({ payload: {} })
const many = (f: Filling): Draft => ({
  payload: { filter: filterOf(f), ...(f.chance(0.3) ? { dryRun: true } : {}) },
})
const ended = (f: Filling): Draft => ({
  payload: { ...(many(f).payload as object), why: 'done' },
})

const A2A_VERSION = '?A2A-Version=1.0'
const A2A_BASES = ['/a2a', '/a2a/agents/{agentType}']

/** A message to a task, or one that begins another: answered at once, as nobody works here. */
const a2aMessage = (f: Filling, taskId: string | undefined): object => ({
  message: {
    messageId: f.fresh(),
    role: 'ROLE_USER',
    parts: [{ text: `of ${f.caller.mark}` }],
    metadata: { 'urn:baton:a2a:handoff:2/targetAgentType': f.agent('reader') },
    ...(taskId === undefined ? {} : { taskId }),
  },
  configuration: { returnImmediately: true },
})

function a2aCall(f: Filling): Draft {
  const id = f.id('task')
  const [method, params] = f.random.pick([
    ['GetTask', { id }],
    ['CancelTask', { id }],
    ['ListTasks', { pageSize: 5 }],
    ['SendMessage', a2aMessage(f, f.chance(0.5) ? id : undefined)],
    ['ListTaskPushNotificationConfigs', { taskId: id }],
    ['GetTaskPushNotificationConfig', { taskId: id, id: f.id('thing') }],
    ['DeleteTaskPushNotificationConfig', { taskId: id, id: f.id('thing') }],
  ] as const)
  return { url: A2A_VERSION, payload: { jsonrpc: '2.0', id: 1, method, params } }
}

const OF_A2A: Readonly<Record<string, (f: Filling) => Draft>> = Object.fromEntries(
  A2A_BASES.flatMap((base) => [
    [`POST ${base}`, a2aCall],
    [
      `POST ${base}/message:{send}`,
      (f: Filling) => ({
        url: A2A_VERSION,
        payload: a2aMessage(f, f.chance(0.5) ? f.id('task') : undefined),
      }),
    ],
    // To a task, so that no stream begins that nobody ends.
    [
      `POST ${base}/message:{stream}`,
      (f: Filling) => ({ url: A2A_VERSION, payload: a2aMessage(f, f.id('task')) }),
    ],
    [`POST ${base}/tasks/{target}`, () => ({ url: `:cancel${A2A_VERSION}`, payload: {} })],
    [
      `POST ${base}/tasks/{target}/pushNotificationConfigs`,
      (f: Filling) => ({ url: A2A_VERSION, payload: { url: `https://${f.caller.mark}.test/` } }),
    ],
    [
      `DELETE ${base}/tasks/{target}/pushNotificationConfigs/{configId}`,
      () => ({ url: A2A_VERSION }),
    ],
    [`GET ${base}/tasks`, () => ({ url: A2A_VERSION })],
    [`GET ${base}/tasks/{target}`, () => ({ url: A2A_VERSION })],
    [`GET ${base}/extendedAgentCard`, () => ({ url: A2A_VERSION })],
    [`GET ${base}/tasks/{target}/pushNotificationConfigs`, () => ({ url: A2A_VERSION })],
    [`GET ${base}/tasks/{target}/pushNotificationConfigs/{configId}`, () => ({ url: A2A_VERSION })],
  ]),
)

function mcpCall(f: Filling): Draft {
  const [name, args] = f.random.pick([
    ['get_task', { taskId: f.id('task') }],
    ['get_handoff', { handoffId: f.id('handoff') }],
    ['list_tasks', {}],
    ['list_handoffs', { taskId: f.id('task') }],
    ['list_dead_letters', {}],
    ['list_approvals', {}],
    ['trace_task', { taskId: f.id('task') }],
    ['cancel_handoff', { handoffId: f.id('handoff') }],
  ] as const)
  return {
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    },
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
  }
}

const OF_SUBSCRIPTIONS: Readonly<Record<string, (f: Filling) => Draft>> = {
  'POST /v2/event-subscriptions': ({ caller, random }) => ({
    payload: {
      name: `of-${caller.mark}-${random.integer(1, 4)}`,
      url: `https://${caller.mark}.test/events`,
    },
  }),
  'PATCH /v2/event-subscriptions/{id}': ({ caller }) => ({
    payload: { url: `https://${caller.mark}.test/other` },
  }),
  'DELETE /v2/event-subscriptions/{id}': () => ({}),
  'POST /v2/event-subscriptions/{id}/rotate': EMPTY,
  'POST /v2/event-subscriptions/{id}/pause': EMPTY,
  'POST /v2/event-subscriptions/{id}/resume': EMPTY,
  'POST /v2/event-subscriptions/{id}/test': EMPTY,
  'POST /v2/event-subscriptions/{id}/replay': (f) => ({
    payload: f.chance(0.5) ? { since: '2026-01-01T00:00:00Z' } : { after: f.id('thing') },
  }),
  'POST /v2/event-subscriptions/{id}/redrive': (f) => ({
    payload: f.chance(0.5) ? {} : { eventIds: some(f, 'thing') },
  }),
}

/** What is posted where; a GET may have a query. */
const DRAFTS: Readonly<Record<string, (f: Filling) => Draft>> = {
  ...OF_A2A,
  ...OF_SUBSCRIPTIONS,
  'POST /mcp': mcpCall,
  'POST /v2/handoffs': sending,
  'POST /v2/handoffs/{id}/revisions': (f) => ({
    payload: { ...(sending(f).payload as object), targetAgentType: undefined, revision: 2 },
  }),
  'POST /v2/handoffs/{id}/cancel': ({ random }) => ({ payload: { graceMs: random.pick([0, 5]) } }),
  'POST /v2/tasks/{id}/cancel': () => ({ payload: { graceMs: 0 } }),
  'POST /v2/tasks/{id}/resume': (f) => ({
    payload: f.chance(0.5) ? {} : { handoffId: f.id('handoff') },
  }),
  'POST /v2/returns/take': (f) => ({
    payload: { agents: [f.agent('intake'), f.agent('reader')], limit: 2 },
  }),
  'POST /v2/returns/{id}/acknowledge': () => ({}),
  'POST /v2/alerts/{id}/close': () => ({ payload: { why: 'done' } }),
  'POST /v2/alerts/acknowledge': many,
  'POST /v2/alerts/close': ended,
  'POST /v2/escalations/{id}/resolve': () => ({ payload: { why: 'done' } }),
  'POST /v2/escalations/acknowledge': many,
  'POST /v2/escalations/resolve': ended,
  'POST /v2/approvals/{id}': ({ random }) => ({
    payload: { decision: random.pick(['approve', 'reject']) },
  }),
  'PATCH /api/handoffs/{id}': ({ random }) => ({
    payload: { action: random.pick(['approve', 'reject']) },
  }),
  'POST /v2/dead-letters/{id}/redact': () => ({
    payload: { redactions: [{ pointer: '/currentState/document' }] },
  }),
  'POST /v2/dead-letters/dry-run': (f) => ({ payload: { handoffIds: some(f, 'handoff') } }),
  'POST /v2/dead-letters/redrive': (f) => ({
    payload: f.chance(0.7) ? { handoffIds: some(f, 'handoff') } : { cluster: f.random.pick(WORDS) },
  }),
  'POST /v2/erasures': ({ random }) => ({ payload: { subject: random.pick(SUBJECTS) } }),
  'POST /v2/erasures/{id}/confirm': ({ random }) => ({
    payload: { subject: random.pick(SUBJECTS) },
  }),
  'POST /v2/subjects/search': ({ random }) => ({ payload: { subject: random.pick(SUBJECTS) } }),
  'POST /v2/executions/claim': (f) => ({
    payload: { agent: { type: f.agent('reader'), version: '1.0.0' }, waitMs: 0 },
  }),
  'POST /v2/executions/heartbeat': (f) => ({ payload: fences(f) }),
  'POST /v2/executions/settle': (f) => ({ payload: fences(f, outcomeOf(f)) }),
  'POST /v2/handoffs/{id}/chunks': ({ caller, random }) => ({
    payload: {
      fencingToken: 1,
      seq: random.integer(1, 2),
      chunks: [{ content: `of ${caller.mark}` }],
    },
  }),
  'POST /api/handoffs': (f) => ({
    payload: {
      fromProfileId: f.agent('intake'),
      toProfileId: f.agent('reader'),
      subject: 'a subject',
      body: `of ${f.caller.mark}`,
      ...(f.chance(0.3) ? { sourceTaskId: f.id('task') } : {}),
      ...(f.chance(0.3) ? { parentMessageId: f.id('handoff') } : {}),
      ...(f.chance(0.3) ? { requiresApproval: true } : {}),
    },
    headers: f.chance(0.2) ? { 'idempotency-key': `key-${f.random.integer(1, 4)}` } : {},
  }),
  'POST /v2/dead-letters/{id}/release': EMPTY,
  'POST /v2/dead-letters/{id}/discard': EMPTY,
  'POST /v2/dead-letters/{id}/ask-sender': EMPTY,
  'POST /v2/alerts/{id}/acknowledge': EMPTY,
  'POST /v2/alerts/tests': EMPTY,
  'POST /v2/escalations/{id}/acknowledge': EMPTY,
  'POST /v2/erasures/replay': () => ({}),
  'DELETE /v2/dead-letters/redrives/{id}': EMPTY,
  'POST /jsonrpc': () => ({
    payload: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { parts: [] } } },
  }),
}

/** The routes for which nobody has said what is sent there. */
export const routesWithoutDraft = (routes: Iterable<string>): string[] =>
  [...routes].filter((route) => !route.startsWith('GET ') && DRAFTS[route] === undefined)

/** The kind of what a path names. */
function kindIn(path: string): Kind {
  if (path.includes('/tasks/')) return 'task'
  return /redrives|erasures|returns|alerts|subscriptions/.test(path) ? 'thing' : 'handoff'
}

export function makeCall(route: string, source: Source): Call {
  const { random, caller, other } = source
  const chance = (share: number): boolean => random.next() < share
  const whose = random.pick(['own', 'own', 'other', 'other', 'nobody', 'mixed'] as const)
  const places: Place[] = []
  const mentions: string[] = []
  // The same id stands at the same place, however often.
  const placeOf = (place: Place): string => {
    const known = places.findIndex(({ id }) => id === place.id)
    return `@@${known === -1 ? places.push(place) - 1 : known}@@`
  }
  const same = (id: string): string => placeOf({ id, nobodys: id, isOthers: false })
  const ofParty = (party: Party, kind: Kind): string => {
    const some = chance(0.1) ? random.pick(KINDS) : kind
    const id = source.idOf(party, some)
    return party === caller ? same(id) : placeOf({ id, nobodys: randomUUID(), isOthers: true })
  }
  const filling: Filling = {
    ...source,
    chance,
    fresh: () => placeOf({ id: randomUUID(), nobodys: randomUUID(), isOthers: false }),
    id(kind) {
      if (whose === 'nobody') return same(randomUUID())
      const party = whose === 'own' || (whose === 'mixed' && chance(0.5)) ? caller : other
      return ofParty(party, kind)
    },
    agent(name) {
      if (chance(0.95)) return caller.agent(name)
      mentions.push(other.agent(name))
      return other.agent(name)
    },
  }
  const [method = '', path = ''] = route.split(' ')
  const isList = method === 'GET' && !path.includes('{')
  const draft = DRAFTS[route]?.(filling) ?? (isList ? listed(filling) : {})
  const id = /profiles/.test(path)
    ? encodeURIComponent(filling.agent('reader'))
    : path.includes('{id}')
      ? filling.id(kindIn(path))
      : ''
  const filled = path
    .replace('{id}', id)
    .replace('{target}', path.includes('{target}') ? filling.id('task') : '')
    .replace('{configId}', path.includes('{configId}') ? filling.id('thing') : '')
    .replace('{agentType}', encodeURIComponent(caller.agent('reader')))
    .replace(/\{(send|stream)\}/, '$1')
    .replace('{branch}', '0')
    .replace('{path}', 'handoff/2.1.json')
    .replace('{name}', 'outbox-stale.md')
  const payload = chance(0.1) ? spoilt(draft.payload, random) : draft.payload
  return {
    route,
    whose,
    url: `${filled}${draft.url ?? ''}`,
    payload: payload === undefined ? undefined : JSON.stringify(payload),
    headers: headersOf(draft, whose),
    places,
    mentions,
  }
}

/** The two calls that are compared differ in their ids, and one key stands for one body only. */
function headersOf({ headers = {} }: Draft, whose: Whose): Readonly<Record<string, string>> {
  const { 'idempotency-key': key, ...others } = headers
  return whose === 'other' || key === undefined ? others : headers
}

/** A body with something wrong in it. */
function spoilt(payload: unknown, random: SeededRandom): unknown {
  if (typeof payload !== 'object' || payload === null) return payload
  const names = Object.keys(payload)
  const name = names.length === 0 ? 'more' : random.pick(names)
  const wrong = random.pick([null, 1, 'x', [], {}])
  return random.pick([{}, [], 'text', { ...payload, [name]: wrong }, { ...payload, more: 1 }])
}

/** The same text with an id at each place. */
export const fillIn = (text: string, places: readonly Place[], which: 'id' | 'nobodys'): string =>
  text.replaceAll(/@@(\d+)@@/g, (_, index: string) => places[Number(index)]?.[which] ?? '')
