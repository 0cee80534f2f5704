// AsyncAPI 3.1 of what leaves by itself: events to webhooks and readers, and the pointers that the queue carries between relay and receiver.
import { EVENT_TYPES, schemaOf } from '@baton/engine'
import alertEvent from '@baton/schemas/event-alert/1.json' with { type: 'json' }
import handoffEvent from '@baton/schemas/event-handoff/1.json' with { type: 'json' }
import testEvent from '@baton/schemas/event-test/1.json' with { type: 'json' }

const text = { type: 'string' }
const uuid = { type: 'string', format: 'uuid' }

const DATA = [handoffEvent, alertEvent, testEvent]

/** The name of the schema of a type's data. */
const dataOf = (type: string): string =>
  DATA.find(({ $id }) => $id === schemaOf(type))?.title ?? handoffEvent.title

/** `baton.handoff.rolled-back` is `handoffRolledBack`. */
const nameOf = (type: string): string =>
  type.replace(/^baton\./, '').replaceAll(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase())

const CLOUD_EVENT = {
  type: 'object',
  required: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'dataschema', 'data'],
  properties: {
    specversion: { const: '1.0' },
    id: { ...uuid, description: 'The same at every try and in every replay; also the webhook-id.' },
    source: { ...text, description: 'Whose it is: /tenants/ and the name of the tenant.' },
    type: { ...text, enum: EVENT_TYPES },
    subject: { ...text, description: 'The task; of alerts the alert, of tests the subscription.' },
    time: { ...text, format: 'date-time' },
    datacontenttype: { const: 'application/json' },
    dataschema: text,
    handoffid: uuid,
    fromagent: text,
    toagent: text,
    reason: text,
    severity: { enum: ['page', 'ticket'] },
    partitionkey: text,
    sequence: { ...text, description: 'Rises with the records of a task.' },
    traceparent: text,
    tracestate: text,
    expirytime: { ...text, format: 'date-time' },
  },
}

const WEBHOOK_HEADERS = {
  type: 'object',
  required: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  properties: {
    'webhook-id': { ...uuid, description: 'The id of the event.' },
    'webhook-timestamp': { ...text, description: 'Seconds since 1970.' },
    'webhook-signature': {
      ...text,
      description:
        'v1, and HMAC-SHA-256 over id, timestamp and body; several, with spaces between them, during a rotation.',
    },
  },
}

const messageOf = (type: string) => ({
  name: type,
  title: type,
  contentType: 'application/cloudevents+json',
  headers: { $ref: '#/components/schemas/WebhookHeaders' },
  payload: {
    allOf: [
      { $ref: '#/components/schemas/CloudEvent' },
      {
        type: 'object',
        properties: {
          type: { const: type },
          dataschema: { const: schemaOf(type) },
          data: { $ref: `#/components/schemas/${dataOf(type)}` },
        },
      },
    ],
  },
})

const POINTER = {
  type: 'object',
  description: 'A pointer, never the message: what it points to stands in Postgres, signed.',
  required: ['v', 'handoffId', 'taskId', 'publishAttempt', 'sha256', 'bytes', 'traceparent'],
  properties: {
    v: { const: 1 },
    handoffId: uuid,
    taskId: uuid,
    publishAttempt: { type: 'integer', minimum: 1, description: 'Part of the id of the job.' },
    sha256: { ...text, description: 'Of the signed bytes that the receiver will load.' },
    bytes: { type: 'integer', minimum: 1 },
    traceparent: text,
    tracestate: text,
  },
}

const messages = EVENT_TYPES.map((type) => [nameOf(type), messageOf(type)] as const)
const channelMessages = Object.fromEntries(
  messages.map(([name]) => [name, { $ref: `#/components/messages/${name}` }]),
)
const withoutId = (schema: object) =>
  Object.fromEntries(
    Object.entries(schema).filter(([name]) => name !== '$id' && name !== '$schema'),
  )

/** The document, as `/asyncapi.json` serves it. */
export const ASYNCAPI = {
  asyncapi: '3.1.0',
  info: {
    title: 'Baton events',
    version: '1.0.0',
    description:
      'What becomes of handoffs, tasks, escalations and alerts, as CloudEvents 1.0.2, by webhooks with Standard Webhooks signatures and as server-sent events; and the pointers of the queue.',
    license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    tags: [{ name: 'events' }, { name: 'queue' }],
  },
  defaultContentType: 'application/json',
  servers: {
    gateway: {
      host: '127.0.0.1:8420',
      protocol: 'http',
      description:
        'Where events are read, and webhooks are subscribed with POST /v2/event-subscriptions.',
      security: [{ $ref: '#/components/securitySchemes/apiKey' }],
    },
    queue: {
      host: '127.0.0.1:6379',
      protocol: 'redis',
      description:
        'Redis or Valkey, by BullMQ; within one process it is LISTEN and NOTIFY of Postgres.',
    },
  },
  channels: {
    webhooks: {
      title: 'Webhooks of subscribers',
      description:
        'The address that a subscription names: each event by POST, at least once, under one id.',
      messages: channelMessages,
      bindings: { http: {} },
    },
    stream: {
      address: '/v2/events',
      title: 'Server-sent events',
      description: 'GET with Accept: text/event-stream; Last-Event-ID goes on behind an event.',
      servers: [{ $ref: '#/servers/gateway' }],
      messages: channelMessages,
    },
    queue: {
      address: '{agentType}',
      title: 'The queue of an agent type',
      description:
        'The BullMQ queue of the agent type: its name in braces, so that all of its keys stand in one slot of a cluster.',
      parameters: { agentType: { description: 'Of whom receives.' } },
      servers: [{ $ref: '#/servers/queue' }],
      messages: { pointer: { $ref: '#/components/messages/pointer' } },
    },
  },
  operations: {
    tellWebhooks: {
      action: 'send',
      channel: { $ref: '#/channels/webhooks' },
      summary: 'A gateway tells every subscription of what it asks for.',
      bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    },
    streamEvents: {
      action: 'send',
      channel: { $ref: '#/channels/stream' },
      summary: 'A gateway sends a reader the events of its tenant.',
      bindings: { http: { method: 'GET', bindingVersion: '0.3.0' } },
    },
    publishPointer: {
      action: 'send',
      channel: { $ref: '#/channels/queue' },
      summary: 'A relay publishes where a handoff waits.',
    },
    receivePointer: {
      action: 'receive',
      channel: { $ref: '#/channels/queue' },
      summary: 'A receiver claims what the pointer points to, in Postgres.',
    },
  },
  components: {
    messages: {
      ...Object.fromEntries(messages),
      pointer: {
        name: 'pointer',
        title: 'A pointer to a handoff',
        contentType: 'application/json',
        payload: { $ref: '#/components/schemas/Pointer' },
      },
    },
    schemas: {
      CloudEvent: CLOUD_EVENT,
      WebhookHeaders: WEBHOOK_HEADERS,
      Pointer: POINTER,
      ...Object.fromEntries(DATA.map((schema) => [schema.title, withoutId(schema)])),
    },
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'An API key or an access token with the scope events:read.',
      },
    },
  },
}
