// Subscriptions to events, their deliveries and pages of events, as the API describes them.
import { EVENT_TYPES, FILTER_DEPTH_MAX, FILTER_PARTS_MAX } from '@baton/engine'
import { UUID_PATTERN } from '@baton/protocol'
import { COUNTED_PAGE } from '../cursor.ts'
import { ref } from '../operation.ts'

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const uuid = { type: 'string', format: 'uuid' }
const time = { type: 'string', format: 'date-time' }
const timeOrNull = { type: ['string', 'null'], format: 'date-time' }
const integer = { type: 'integer' }
const record = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const described = (schema: object, description: string) => ({ ...schema, description })
const closed = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const name = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  description: 'Of the tenant’s own choice, and one subscription’s only.',
}
const url = {
  type: 'string',
  minLength: 1,
  maxLength: 2_048,
  description: 'https, at an address of the public internet; checked at every connection.',
}
const mode = {
  enum: ['structured', 'binary'],
  description:
    'The whole event as the body (application/cloudevents+json), or its data with its attributes as ce- headers.',
}
const filters = {
  type: 'array',
  maxItems: FILTER_PARTS_MAX,
  items: { type: 'object' },
  description: `What is told: events that every one of these fits, in the filter dialects exact, prefix, suffix, all, any and not of the CloudEvents Subscriptions API, over attributes of events (type, subject, fromagent, toagent, reason, handoffid, severity and others). At most ${FILTER_PARTS_MAX} expressions and values in all, ${FILTER_DEPTH_MAX} deep; [] tells everything.`,
  examples: [
    [
      {
        any: [
          { prefix: { type: 'baton.alert.' } },
          { exact: { type: 'baton.handoff.dead-lettered' } },
        ],
      },
    ],
  ],
}
const secret = {
  type: 'string',
  pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
  description: 'whsec_ and 24 to 64 random bytes in base64; one is made where it is left out.',
}
const eventId = { type: 'string', pattern: UUID_PATTERN }
const instant = {
  type: 'string',
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$`,
}

export const SUBSCRIPTION_REQUESTS = {
  MakeSubscriptionRequest: closed(
    {
      name,
      url,
      mode: { ...mode, default: 'structured' },
      filters: { ...filters, default: [] },
      secret,
    },
    ['name', 'url'],
  ),
  ChangeSubscriptionRequest: { ...closed({ name, url, mode, filters }), minProperties: 1 },
  RotateSecretRequest: closed({
    secret,
    overlapHours: {
      type: 'integer',
      minimum: 0,
      maximum: 720,
      default: 24,
      description: 'How long the secret of before signs beside the new one.',
    },
  }),
  ReplayRequest: {
    ...closed({
      since: described(instant, 'Tells again what was made an event then and later.'),
      after: described(eventId, 'Tells again what came after this event.'),
    }),
    minProperties: 1,
    maxProperties: 1,
  },
  RedriveEventsRequest: closed({
    eventIds: {
      type: 'array',
      items: eventId,
      minItems: 1,
      maxItems: 1_000,
      description: 'All that were given up where it is left out.',
    },
  }),
}

const SUBSCRIPTION = {
  subscriptionId: uuid,
  name,
  url,
  mode,
  filters,
  state: {
    enum: ['active', 'paused', 'disabled'],
    description:
      'Nothing is sent while it is paused or disabled; what happens meanwhile waits as long as events are kept.',
  },
  reason: described(textOrNull, 'Why it was disabled: HTTP_410, EVENTS_FORGOTTEN.'),
  failures: described(integer, 'Tries in a row that its consumer did not take.'),
  nextAt: described(
    timeOrNull,
    'When it is looked next whether its consumer is back; null where it is not away.',
  ),
  delivered: described(integer, 'How many events its consumer took.'),
  deliveredAt: timeOrNull,
  failedAt: timeOrNull,
  lastError: described(textOrNull, 'A code, of the newest try that failed.'),
  earlierSecretUntil: described(
    timeOrNull,
    'Until then the secret of before signs beside the newest.',
  ),
  waiting: described(integer, 'Events that are tried again.'),
  deadLetters: described(integer, 'Events that were given up.'),
  madeBy: text,
  createdAt: time,
  changedAt: time,
  links: record({ self: text, deliveries: text }),
}

const DELIVERY = {
  eventId: uuid,
  state: { enum: ['waiting', 'delivered', 'dead'] },
  attempts: integer,
  firstAt: time,
  nextAt: described(timeOrNull, 'When it is tried again.'),
  endedAt: timeOrNull,
  lastError: textOrNull,
  event: described({ type: ['object', 'null'] }, 'The event; null where it is not kept any more.'),
}

const EVENT = {
  type: 'object',
  description: 'A CloudEvent 1.0.2.',
  properties: {
    specversion: { const: '1.0' },
    id: described(uuid, 'The same at every try and in every replay.'),
    source: described(text, 'Whose it is: /tenants/ and the name of the tenant.'),
    type: { type: 'string', enum: EVENT_TYPES },
    subject: described(text, 'The task; of alerts the alert, of tests the subscription.'),
    time: described(time, 'When it was recorded.'),
    datacontenttype: { const: 'application/json' },
    dataschema: described(text, 'The $id of the schema of its data; /schemas lists where each is.'),
    data: { type: 'object' },
  },
  required: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'dataschema', 'data'],
}

export const SUBSCRIPTION_ANSWERS = {
  CloudEvent: EVENT,
  EventPage: record({
    events: { type: 'array', items: ref('CloudEvent') },
    nextAfter: described(
      textOrNull,
      'The id to go on after, with the same filter: of the last event that was looked at; null where there was none.',
    ),
    isMore: described({ type: 'boolean' }, 'Whether there are more by now.'),
  }),
  Subscription: record(SUBSCRIPTION),
  SubscriptionWithSecret: record({
    ...SUBSCRIPTION,
    secret: described(
      textOrNull,
      'Shown this once; null in a repetition after a day or after a change.',
    ),
  }),
  Subscriptions: record({
    subscriptions: { type: 'array', items: ref('Subscription') },
    ...COUNTED_PAGE,
  }),
  EventDeliveries: record({
    deliveries: { type: 'array', items: record(DELIVERY) },
    ...COUNTED_PAGE,
  }),
  DeletedSubscription: record({ subscriptionId: uuid, deleted: { const: true } }),
  SubscriptionTest: record({
    eventId: described(uuid, 'Of the event that is told; look for it at the consumer.'),
  }),
  RedrivenEvents: record({ redriven: described(integer, 'How many are tried again.') }),
}
