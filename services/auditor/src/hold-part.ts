// GET /v1/holds: which tasks are held, proven by their records. PUT /v1/holds/{taskId}: keeps a task's records from every deletion, or lets them go; itself a record.
import { randomUUID } from 'node:crypto'
import { isHeldBy, readTrace } from '@baton/audit'
import { ProblemError, requireToken } from '@baton/http/server'
import type { AuditEntry } from '@baton/ledger'
import type { FastifyRequest } from 'fastify'
import type { Core, Part } from './core.ts'
import { refusing } from './problem.ts'
import { nothingOf } from './record-part.ts'
import { BY_TASK, record, UUID } from './schemas.ts'
import type { ByTask } from './schemas.ts'
import { tellHolds } from './tell-holds.ts'

interface HoldRequest {
  readonly held: boolean
  readonly actor: string
  /** A code such as COURT_ORDER; it stands in the record. */
  readonly reason?: string
}

/** Without BATON_AUDIT_HOLD_TOKEN nobody may hold. */
export const createHoldPart = (core: Core): Part => ({
  prepare(server) {
    const { settings, reader, cold, batcher } = core
    const mayRead = requireToken(settings.BATON_AUDIT_READ_TOKEN, 'read')
    const byReaders = {
      onRequest: async ({ headers }: FastifyRequest) => mayRead(headers.authorization),
    }
    server.get<{ Querystring: { readonly after?: string } }>(
      '/v1/holds',
      { ...byReaders, ...LIST },
      ({ query: { after } }) => tellHolds(core, after),
    )
    const token = settings.BATON_AUDIT_HOLD_TOKEN
    if (token === undefined) return
    const mayHold = requireToken(token, 'hold')
    const onRequest = async ({ headers }: FastifyRequest) => mayHold(headers.authorization)
    server.put<ByTask & { Body: HoldRequest }>(
      '/v1/holds/:taskId',
      { onRequest, ...HOLD },
      async ({ params: { taskId }, body }) => {
        const reading = { reader, cold, covered: core.covered(), batchKeys: core.batchKeys }
        const trace = await readTrace(reader, taskId, reading)
        const { records, expired } = trace
        if (records.length + expired === 0) throw nothingOf(trace)
        // The table of holds follows from the records: what stands there alone holds nothing.
        const changed = (await isHeldBy(reading, trace)) !== body.held
        if (changed) await batcher.add(holdEntry(taskId, body, records[0]?.body.traceparent))
        return { taskId, held: body.held, changed }
      },
    )
  },
})

/** On the trace of the task's first record; on one of its own where none stands any more. */
function holdEntry(
  taskId: string,
  { held, actor, reason }: HoldRequest,
  traceparent: string | undefined,
): AuditEntry {
  const id = randomUUID()
  const trace = traceparent?.split('-')[1] ?? taskId.replaceAll('-', '')
  const span = id.replaceAll('-', '').slice(0, 16)
  return {
    event: held ? 'LEGAL_HOLD_SET' : 'LEGAL_HOLD_LIFTED',
    taskId,
    handoffId: id,
    parentHandoffId: null,
    attempt: 0,
    epoch: 0,
    fromAgent: { agentId: 'auditor', agentVersion: '1', executionId: id },
    toAgent: { agentType: 'audit-log', agentVersion: null },
    traceparent: `00-${trace}-${span}-00`,
    verdicts: null,
    reason: reason ?? null,
    cost: null,
    act: { id, actor },
    segments: [],
  }
}

const NOT_A_HOLD = new ProblemError({
  status: 400,
  code: 'BATON_HOLD_INVALID',
  detail: 'a hold names a task, whether it is held, and who says so',
  fix: 'Send {"held": true, "actor": "name"} to /v1/holds/{taskId}.',
})

const LIST = {
  schema: { querystring: { type: 'object', properties: { after: UUID } } },
  schemaErrorFormatter: refusing({
    querystring: new ProblemError({
      status: 400,
      code: 'BATON_PARAMETER_INVALID',
      detail: 'after is a lower-case UUID',
      fix: 'Give `next` of the answer before.',
    }),
  }),
}

const HOLD = {
  schema: {
    params: BY_TASK,
    body: record(
      {
        held: { type: 'boolean' },
        actor: { type: 'string', pattern: '^[!-~](?:[ -~]{0,254}[!-~])?$' },
      },
      { reason: { type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,63}$' } },
    ),
  },
  schemaErrorFormatter: refusing({ params: NOT_A_HOLD, body: NOT_A_HOLD }),
}
