// The bodies of the erasure routes: exactly these members, checked before anything is looked up.
import { OPERATOR, TENANT } from '@baton/ledger'
import { POSITION_PATTERN } from '@baton/audit'
import type { ErasedStore, ErasureState } from '@baton/audit'
import { ProblemError } from '@baton/http/server'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { refusing } from './problem.ts'
import { COUNT, record, UUID } from './schemas.ts'

export interface ConfirmRequest {
  readonly subject: string
  readonly tenant?: string
  readonly confirmedBy: string
  readonly handoffIds: readonly string[]
  readonly taskIds: readonly string[]
}

export interface CompleteRequest {
  readonly stores: readonly ErasedStore[]
  /** What the files under the operational database can still hold, as it was measured. */
  readonly storage?: readonly object[]
  /** How long the operator says that back-ups are kept; null where nobody said it. */
  readonly backupDays?: number | null
}

export interface SubjectRequest {
  readonly subject: string
  readonly tenant?: string
}

const TEXT = { type: 'string' }
const SUBJECT = { type: 'string', pattern: String.raw`^[^\n]{1,256}$` }
const CODE = { type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,63}$' }
const OF_TENANT = { tenant: { type: 'string', pattern: `^${TENANT}$` } }
const ACTOR = { type: 'string', pattern: `^${OPERATOR}$` }
const LIST_MAX = 10_000

const listOf = (items: object) => ({ type: 'array', maxItems: LIST_MAX, items })
const LISTS = { handoffIds: listOf(UUID), taskIds: listOf(UUID) }
const STORE = record({ name: TEXT, before: COUNT, after: COUNT }, { note: TEXT })

export const ERASURE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ERASURE_UNKNOWN',
  detail: 'there is no erasure with this id',
  fix: 'Plan one first.',
})

const BY_ID = { type: 'object', properties: { id: UUID } }

/** A body with exactly these members; its refusal names the member and quotes nothing. */
const exactly = (properties: Record<string, object>, others: Record<string, object> = {}) => ({
  schema: { params: BY_ID, body: { ...record(properties, others), additionalProperties: false } },
  schemaErrorFormatter: refusing({
    params: ERASURE_UNKNOWN,
    body: (errors) => otherThan(Object.keys({ ...properties, ...others }), errors[0]),
  }),
})

function otherThan(
  names: readonly string[],
  error: FastifySchemaValidationError | undefined,
): ProblemError {
  const member = error?.params['missingProperty'] ?? error?.instancePath.split('/')[1]
  const pointer = typeof member === 'string' && names.includes(member) ? `/${member}` : ''
  return new ProblemError({
    status: 400,
    code: 'BATON_REQUEST_INVALID',
    detail: `${pointer} does not have the form that is asked for`,
    fix: `Give exactly ${names.join(', ')}.`,
    pointer,
  })
}

export const PLAN = exactly(
  { id: UUID, subject: SUBJECT, basis: CODE, requestedBy: ACTOR, ...LISTS },
  OF_TENANT,
)
export const CONFIRM = exactly({ subject: SUBJECT, confirmedBy: ACTOR, ...LISTS }, OF_TENANT)
const STORAGE = record({
  database: TEXT,
  measuredAt: TEXT,
  tables: COUNT,
  tableBytes: COUNT,
  deadRows: COUNT,
  walPosition: TEXT,
  walKeptBytes: COUNT,
  walArchived: { type: 'boolean' },
  replicas: COUNT,
})
export const COMPLETE = exactly(
  { stores: listOf(STORE) },
  { storage: listOf(STORAGE), backupDays: { type: ['integer', 'null'], minimum: 0 } },
)
export const SEARCH = exactly({ subject: SUBJECT }, OF_TENANT)
export const WITHOUT_BODY = {
  schema: { params: BY_ID },
  schemaErrorFormatter: refusing({ params: ERASURE_UNKNOWN }),
}

export const ERASURE_STATES = [
  'PLANNED',
  'DEFERRED',
  'CONFIRMED',
  'ERASED',
  'COMPLETED',
] as const satisfies readonly ErasureState[]

export const LIMIT_DEFAULT = '50'
const LIMIT_MAX = 1_000

const LIST_QUERY = {
  type: 'object',
  properties: {
    state: { enum: ERASURE_STATES },
    ...OF_TENANT,
    cursor: { type: 'string', pattern: POSITION_PATTERN },
    limit: { type: 'string', pattern: '^([1-9]\\d{0,2}|1000)$' },
  },
}

const PARAMETERS: Readonly<Record<string, string>> = {
  state: `Use one of ${ERASURE_STATES.join(', ')}.`,
  tenant: 'Name a tenant as it is called.',
  cursor: 'Use nextCursor as the page before answered it.',
  limit: `Use a whole number from 1 to ${LIMIT_MAX}.`,
}

export const LIST = {
  schema: { querystring: LIST_QUERY },
  schemaErrorFormatter: refusing({
    querystring: ([error]) => {
      const parameter = error?.instancePath.slice(1) ?? ''
      return new ProblemError({
        status: 400,
        code: 'BATON_PARAMETER_INVALID',
        detail: `the query parameter ${parameter} has no valid value`,
        fix: PARAMETERS[parameter],
        parameter,
      })
    },
  }),
}
