// What a search and a cost report are asked with, and how both say where to go on.
import { COST_KEYS } from '@baton/audit'
import type { CostKey, Criteria, Looked, SearchPosition } from '@baton/audit'
import { EVENT_NUMBERS, formatInstant, TENANT } from '@baton/ledger'
import type { AuditEvent } from '@baton/ledger'
import { ProblemError } from '@baton/http/server'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { refusing } from './problem.ts'
import { UUID } from './schemas.ts'

/** A file that the answer is for; it is recorded that somebody took it. */
const EXPORT_FORMATS = ['CSV', 'JSONL', 'PARQUET'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

interface Range {
  readonly since?: string
  readonly until?: string
  readonly cursor?: string
  readonly export?: ExportFormat
}

export interface SearchBody extends Range {
  readonly taskId?: string
  readonly subject?: string
  /** Whose person `subject` is; the default tenant's where it is undefined. */
  readonly tenant?: string
  readonly agent?: string
  readonly fromAgent?: string
  readonly toAgent?: string
  readonly decidedBy?: string
  readonly events?: readonly AuditEvent[]
  readonly reason?: string
  readonly minCostUSD?: number
  readonly maxCostUSD?: number
  readonly limit?: number
}

export interface CostsBody extends Range {
  readonly by: readonly CostKey[]
}

const HITS_MAX = 500
export const HITS_DEFAULT = 100
const MICROS_PER_USD = 1_000_000

const name = { type: 'string', minLength: 1, maxLength: 256 }
const time = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?Z$',
}
const money = { type: 'number', minimum: 0, maximum: 1_000_000_000 }
const range = {
  since: time,
  until: time,
  cursor: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,4096}$' },
  export: { enum: EXPORT_FORMATS },
}

const SEARCH_BODY = {
  type: 'object',
  additionalProperties: false,
  properties: {
    taskId: UUID,
    subject: name,
    tenant: { type: 'string', pattern: `^${TENANT}$` },
    agent: name,
    fromAgent: name,
    toAgent: name,
    decidedBy: name,
    events: {
      type: 'array',
      minItems: 1,
      maxItems: Object.keys(EVENT_NUMBERS).length,
      items: { enum: Object.keys(EVENT_NUMBERS) },
    },
    reason: { type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,63}$' },
    minCostUSD: money,
    maxCostUSD: money,
    limit: { type: 'integer', minimum: 1, maximum: HITS_MAX },
    ...range,
  },
}

const COSTS_BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['by'],
  properties: {
    by: { type: 'array', minItems: 1, maxItems: COST_KEYS.length, items: { enum: COST_KEYS } },
    ...range,
  },
}

const shaped = (body: object, takes: string) => ({
  schema: { body },
  schemaErrorFormatter: refusing({ body: (errors) => notASearch(errors, takes) }),
})

export const SEARCH = shaped(SEARCH_BODY, Object.keys(SEARCH_BODY.properties).join(', '))
export const COSTS = shaped(COSTS_BODY, Object.keys(COSTS_BODY.properties).join(', '))

function notASearch(errors: readonly FastifySchemaValidationError[], takes: string): ProblemError {
  const [error] = errors
  const unknown = error?.params['additionalProperty']
  const pointer = typeof unknown === 'string' ? '' : (error?.instancePath ?? '')
  return searchInvalid(pointer, `A search takes ${takes}; times are like 2026-11-20T10:00:00Z.`)
}

const searchInvalid = (pointer: string, fix: string) =>
  new ProblemError({
    status: 400,
    code: 'BATON_SEARCH_INVALID',
    detail: `the search asks for something that there is not${pointer === '' ? '' : `, at ${pointer}`}`,
    fix,
    pointer,
  })

/** Throws 400 BATON_SEARCH_INVALID for a time that does not exist. */
export function rangeOf({ since, until }: Range) {
  return { sinceMicros: microsOf(since, '/since'), untilMicros: microsOf(until, '/until') }
}

function microsOf(text: string | undefined, pointer: string): number | undefined {
  if (text === undefined) return undefined
  const [, whole = '', fraction = ''] = /^([^.Z]*)(?:\.(\d+))?Z$/.exec(text) ?? []
  const ms = Date.parse(`${whole}Z`)
  // Date.parse takes February 30 for March 2.
  const exists = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(whole)
  if (!exists) throw searchInvalid(pointer, 'Give a time that exists.')
  return ms * 1_000 + Number(fraction.padEnd(6, '0'))
}

/** All criteria but the person, whose keys only the vault knows. */
export const criteriaOf = (body: SearchBody): Criteria => ({
  ...body,
  ...rangeOf(body),
  costMin: microUSD(body.minCostUSD),
  costMax: microUSD(body.maxCostUSD),
})

const microUSD = (usd: number | undefined): number | undefined =>
  usd === undefined ? undefined : Math.round(usd * MICROS_PER_USD)

export const cursorOf = (position: SearchPosition | undefined): string | null =>
  position === undefined ? null : Buffer.from(JSON.stringify(position)).toString('base64url')

/** Throws 400 BATON_SEARCH_INVALID for what `cursorOf` did not write. */
export function positionOf({ cursor }: Range): SearchPosition | undefined {
  if (cursor === undefined) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (Array.isArray(value) && value.every(isPlace)) return value
  } catch {
    // Not JSON: answered below.
  }
  throw searchInvalid('/cursor', 'Give the cursor of the answer before, with the same criteria.')
}

const isPlace = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((one) => Number.isSafeInteger(one) && one >= 0)

/** What was looked at, as it is answered: `since` is null where all of it was. */
export const showLooked = ({ records, proven, sinceMicros, findings }: Looked) => ({
  records,
  proven,
  since: Number.isFinite(sinceMicros) ? formatInstant(sinceMicros) : null,
  findings,
})
