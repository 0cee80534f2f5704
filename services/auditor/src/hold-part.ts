// GET /v1/holds: which tasks are held, proven by their records. PUT /v1/holds/{taskId}: keeps a task's records from every deletion, or lets them go; itself a record.
import { isHeldBy, readTrace } from '@baton/audit'
import { ProblemError } from '@baton/http/server'
import { actIdOf, decisionFault, digestOf, recorded } from '@baton/ledger'
import type { AuditEntry, Decision, DecisionFault, DecisionSignature, People } from '@baton/ledger'
import type { FastifyRequest } from 'fastify'
import type { Core, Part } from './core.ts'
import { refusing } from './problem.ts'
import { nothingOf } from './record-part.ts'
import { BY_TASK, record, UUID } from './schemas.ts'
import type { ByTask } from './schemas.ts'
import { readDecisionHeader, unsigned } from './signed-decision.ts'
import { tellHolds } from './tell-holds.ts'

interface HoldRequest {
  readonly held: boolean
  readonly actor: string
  /** A code such as COURT_ORDER; it stands in the record. */
  readonly reason?: string
}

/** Without BATON_AUDIT_HOLD_TOKEN and issuers nobody may hold. */
export const createHoldPart = (core: Core): Part => ({
  prepare(server) {
    const { settings, reader, cold, batcher } = core
    const mayRead = core.callers.guard('read', settings.BATON_AUDIT_READ_TOKEN)
    const byReaders = {
      onRequest: async ({ headers }: FastifyRequest) => void (await mayRead(headers.authorization)),
    }
    server.get<{ Querystring: { readonly after?: string } }>(
      '/v1/holds',
      { ...byReaders, ...LIST },
      ({ query: { after } }) => tellHolds(core, after),
    )
    // The same signature is the same act: what was signed for an earlier hold begins no new one.
    const record = async (entry: AuditEntry): Promise<void> => {
      const outcome = await batcher.add(entry)
      if (outcome.kind !== 'receipt' || outcome.receipt.duplicate) throw SIGNED_BEFORE
    }
    const mayHold = core.callers.optionalGuard('hold', settings.BATON_AUDIT_HOLD_TOKEN)
    if (mayHold === undefined) return
    const onRequest = async ({ headers }: FastifyRequest) =>
      void (await mayHold(headers.authorization))
    server.put<ByTask & { Body: HoldRequest }>(
      '/v1/holds/:taskId',
      { onRequest, ...HOLD },
      async (request) => {
        const { body } = request
        const { taskId } = request.params
        const { operator } = await mayHold(request.headers.authorization)
        if (operator !== undefined && operator !== body.actor) throw OF_OTHER_PERSON
        const signed = readDecisionHeader(request)
        const act = readHoldAct(core.people, { taskId, ...body }, signed)
        const reading = { reader, cold, covered: core.covered(), batchKeys: core.batchKeys }
        const trace = await readTrace(reader, taskId, reading)
        const { records, expired } = trace
        if (records.length + expired === 0) throw nothingOf(trace)
        // The table of holds follows from the records: what stands there alone holds nothing.
        const changed = (await isHeldBy(reading, trace)) !== body.held
        if (changed) await record(holdEntry(taskId, { ...body, act }, records[0]?.body.traceparent))
        return { taskId, held: body.held, changed }
      },
    )
  },
})

/** On the trace of the task's first record; on one of its own where none stands any more. */
function holdEntry(
  taskId: string,
  { held, reason, act }: HoldRequest & { readonly act: NonNullable<AuditEntry['act']> },
  traceparent: string | undefined,
): AuditEntry {
  const { id } = act
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
    act,
    segments: [],
  }
}

/** What `actor` signed. Throws 403 with what would have to be signed. */
function readHoldAct(
  people: People,
  { taskId, held, actor: person, reason }: HoldRequest & { readonly taskId: string },
  signed: DecisionSignature | undefined,
): NonNullable<AuditEntry['act']> {
  const event = held ? 'LEGAL_HOLD_SET' : 'LEGAL_HOLD_LIFTED'
  const decision: Decision = { event, taskId, handoffId: null, person, decided: digestOf(reason) }
  const fault = decisionFault(decision, signed, people) ?? staleness(signed)
  if (signed === undefined || fault !== undefined)
    throw unsigned({ decision, fault: fault ?? 'unsigned' }, UNSIGNED_HOLD)
  return { id: actIdOf(signed), actor: person, signed: recorded(signed) }
}

// What was signed while it changed nothing is on no record: kept, it could lift a hold that was set long after.
const SIGNED_AGO_MAX_MS = 300_000

const staleness = (signed: DecisionSignature | undefined): DecisionFault | undefined =>
  signed !== undefined && Math.abs(Date.now() - Date.parse(signed.signedAt)) > SIGNED_AGO_MAX_MS
    ? 'clock'
    : undefined

const UNSIGNED_HOLD = {
  detail:
    'a hold takes the signature of its actor, with a key and a role that count here, made within five minutes',
  fix: 'Sign what Baton-Decision-Needed names and send it as Baton-Decision; `baton audit hold` does it by itself.',
}

const SIGNED_BEFORE = new ProblemError({
  status: 409,
  code: 'BATON_DECISION_USED',
  detail: 'this signature was given for an earlier hold, and is on record',
  fix: 'Sign anew.',
})

const OF_OTHER_PERSON = new ProblemError({
  status: 403,
  code: 'BATON_DECISION_REFUSED',
  detail: 'the access token is not that of the actor of this hold',
  fix: 'Hold with a token and a signature of one person, and name that person as actor.',
})

const NOT_A_HOLD = new ProblemError({
  status: 400,
  code: 'BATON_HOLD_INVALID',
  detail: 'a hold names a task, whether it is held, and who says so',
  fix: 'Send {"held": true, "actor": "name"} to /v1/holds/{taskId}.',
})

export const LIST = {
  schema: { querystring: { type: 'object', properties: { after: UUID } } },
  schemaErrorFormatter: refusing({
    querystring: new ProblemError({
      status: 400,
      code: 'BATON_PARAMETER_INVALID',
      detail: 'after is a lower-case UUID',
      fix: 'Give `next` of the answer before.',
      parameter: 'after',
    }),
  }),
}

export const HOLD = {
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
