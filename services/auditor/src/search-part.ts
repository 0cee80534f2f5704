// POST /v1/search and /v1/costs: what the whole log says of a question, and of how much of it that is proven.
import { randomUUID } from 'node:crypto'
import { deciderOf, findSubjectRefs, readCosts, searchLog } from '@baton/audit'
import type { SearchHit } from '@baton/audit'
import { DEFAULT_TENANT } from '@baton/ledger'
import { bearerOf, matcherOf, ProblemError } from '@baton/http/server'
import type { FastifyRequest } from 'fastify'
import type { Caller, Guard } from './callers.ts'
import type { Core, Part } from './core.ts'
import { operationEntry } from './evidence.ts'
import {
  COSTS,
  criteriaOf,
  cursorOf,
  HITS_DEFAULT,
  positionOf,
  rangeOf,
  SEARCH,
  showLooked,
} from './search-shapes.ts'
import type { CostsBody, ExportFormat, SearchBody } from './search-shapes.ts'

/** Whoever may read may ask; where a person stands, and what goes into a file, only whoever may export. */
export const createSearchPart = (core: Core): Part => ({
  prepare(server) {
    const { reader, cold, covered, settings } = core
    const { mayRead, mayExport } = guardsOf(core)
    const onRequest = async ({ headers }: FastifyRequest) => mayRead(headers.authorization)
    server.post<{ Body: SearchBody }>(
      '/v1/search',
      { onRequest, ...SEARCH },
      async ({ body, headers, ip }) => {
        const { subject, tenant, limit = HITS_DEFAULT } = body
        const isExport = subject !== undefined || body.export !== undefined
        const exporter = isExport ? await mayExport(headers.authorization) : undefined
        const environment = settings.BATON_ENVIRONMENT
        const subjectRefs =
          subject === undefined
            ? undefined
            : await findSubjectRefs({ ...core, environment, tenant }, subject)
        const position = positionOf(body)
        await recordExport(core, { what: 'RESULTS', exporter }, { ...body, ip })
        if (subjectRefs?.length === 0) return NOBODY
        const criteria = { ...criteriaOf(body), subjectRefs }
        const page = await searchLog(reader, {
          criteria,
          limit,
          position,
          covered: covered(),
          cold,
        })
        return {
          hits: page.hits.map(showHit),
          looked: showLooked(page.looked),
          cursor: cursorOf(page.next),
        }
      },
    )
    server.post<{ Body: CostsBody }>(
      '/v1/costs',
      { onRequest, ...COSTS },
      async ({ body, headers, ip }) => {
        const isExport = body.export !== undefined
        const exporter = isExport ? await mayExport(headers.authorization) : undefined
        const position = positionOf(body)
        await recordExport(core, { what: 'COSTS', exporter }, { ...body, ip })
        const asked = { by: body.by, ...rangeOf(body), position }
        const { looked, next, ...costs } = await readCosts(reader, {
          ...asked,
          covered: covered(),
          cold,
        })
        return { ...costs, looked: showLooked(looked), cursor: cursorOf(next) }
      },
    )
  },
})

/** Nothing is recorded of this person, or they were erased: which of both, nobody can tell. */
const NOBODY = {
  hits: [],
  looked: { records: 0, proven: 0, since: null, findings: [] },
  cursor: null,
}

interface Guards {
  readonly mayRead: (authorization: string | undefined) => Promise<void>
  readonly mayExport: Guard
}

/** Who may export may read as well. */
function guardsOf({ settings, callers }: Core): Guards {
  const mayRead = callers.guard('read', settings.BATON_AUDIT_READ_TOKEN)
  const token = settings.BATON_AUDIT_EVIDENCE_TOKEN
  const isExporter = token === undefined ? () => false : matcherOf(token)
  return {
    async mayRead(authorization) {
      if (!isExporter(bearerOf(authorization) ?? '')) await mayRead(authorization)
    },
    mayExport: callers.optionalGuard('evidence', token) ?? refuse,
  }
}

async function refuse(): Promise<never> {
  throw EXPORT_OFF
}

const EXPORT_OFF = new ProblemError({
  status: 403,
  code: 'BATON_TOKEN_REFUSED',
  detail: 'nobody may search this auditor for a person or export from it',
  fix: 'Set BATON_AUDIT_EVIDENCE_TOKEN in the auditor, and send it, or name issuers of access tokens.',
})

interface Exported {
  readonly what: 'RESULTS' | 'COSTS'
  readonly exporter: Caller | undefined
}

/** Once for an export, with its first answer: the log says that somebody took a file of it, and in which form. */
async function recordExport(
  { batcher, logger }: Core,
  { what, exporter }: Exported,
  asked: { readonly export?: ExportFormat; readonly cursor?: string; readonly ip: string },
): Promise<void> {
  if (exporter === undefined || asked.export === undefined || asked.cursor !== undefined) return
  const taskId = randomUUID()
  const hex = taskId.replaceAll('-', '')
  const reason = `${what}_${asked.export}`
  const traceparent = `00-${hex}-${hex.slice(0, 16)}-00`
  await batcher.add(
    operationEntry('EVIDENCE_EXPORTED', {
      taskId,
      traceparent,
      actor: exporter.name,
      reason,
      address: asked.ip,
    }),
  )
  logger.info({ event: 'audit.results_exported', taskId, reason })
}

/** What a record says, flat enough for a table. */
function showHit({ body, ...kept }: SearchHit) {
  const { recordedAt, event, taskId, handoffId, attempt, reason, cost, origin, seq } = body
  return {
    recordedAt,
    event,
    taskId,
    handoffId,
    attempt,
    fromAgent: body.fromAgent.agentId,
    fromVersion: body.fromAgent.agentVersion,
    toAgent: body.toAgent.agentType,
    toVersion: body.toAgent.agentVersion,
    reason,
    decidedBy: deciderOf(body),
    byPerson: body.act !== undefined,
    releaseId: body.release ?? null,
    tenant: body.tenant ?? DEFAULT_TENANT,
    operation: body.operation ?? null,
    cost,
    origin,
    seq,
    ...kept,
  }
}
