// POST /v1/follow: what the log has since the caller was there last, in order, for who makes something else of it.
import { followLog } from '@baton/audit'
import type { ChainPosition } from '@baton/audit'
import { ProblemError } from '@baton/http/server'
import { parseInstant } from '@baton/ledger'
import type { FastifyRequest } from 'fastify'
import type { Core, Part } from './core.ts'
import { refusing } from './problem.ts'
import { COUNT } from './schemas.ts'

interface FollowBody {
  readonly positions: readonly ChainPosition[]
  readonly since: string
  readonly limit?: number
}

const LIMIT_MAX = 1_000
const CHAINS_MAX = 4_096

/** Nothing of it is proven here: `verify` and traces do that. */
export const createFollowPart = (core: Core): Part => ({
  prepare(server) {
    const { reader, cold, settings } = core
    const mayRead = core.callers.guard('read', settings.BATON_AUDIT_READ_TOKEN)
    const onRequest = async ({ headers }: FastifyRequest) =>
      void (await mayRead(headers.authorization))
    server.post<{ Body: FollowBody }>('/v1/follow', { onRequest, ...FOLLOW }, ({ body }) => {
      const { positions, since, limit = LIMIT_MAX } = body
      const sinceMicros = parseInstant(since)
      if (sinceMicros === undefined) throw NOT_FOLLOWING
      return followLog(reader, { positions, sinceMicros, limit, cold })
    })
  },
})

export const FOLLOW_BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['positions', 'since'],
  properties: {
    positions: {
      type: 'array',
      maxItems: CHAINS_MAX,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['chain', 'size', 'lastHash'],
        properties: {
          chain: { type: 'integer', minimum: 0, maximum: 32_767 },
          size: COUNT,
          lastHash: { type: 'string', pattern: '^([0-9a-f]{64})?$' },
        },
      },
    },
    since: {
      type: 'string',
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$',
      description: 'Where a chain without a position begins, in microseconds.',
    },
    limit: { type: 'integer', minimum: 1, maximum: LIMIT_MAX, default: LIMIT_MAX },
  },
}

const NOT_FOLLOWING = new ProblemError({
  status: 400,
  code: 'BATON_FOLLOW_INVALID',
  detail: 'the body is no place in the log',
  fix: 'Send { "positions": the positions of the answer before, [] at first, "since": a time like 2026-11-20T10:00:00.000000Z }.',
})

const FOLLOW = {
  schema: { body: FOLLOW_BODY },
  schemaErrorFormatter: refusing({ body: NOT_FOLLOWING }),
}
