// PUT /v1/holds/{taskId}: keeps a task's records from every deletion, or lets them go; itself a record.
import { randomUUID } from 'node:crypto'
import { readLegalHolds, readTaskIndex } from '@baton/audit'
import type { AppendOutcome, Pool } from '@baton/audit'
import type { AuditEntry } from '@baton/ledger'
import type { Batcher } from '@baton/runtime'
import type { FastifyInstance } from 'fastify'
import type { RequireToken } from './access.ts'
import { ProblemError } from './problem.ts'

interface HoldRoutes {
  readonly reader: Pool
  readonly batcher: Batcher<AuditEntry, AppendOutcome>
  /** Undefined where nobody may hold. */
  readonly mayHold: RequireToken | undefined
}

interface HoldRequest {
  readonly held: boolean
  readonly actor: string
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const NAME = /^[!-~](?:[ -~]{0,254}[!-~])?$/

export function addHoldRoutes(server: FastifyInstance, routes: HoldRoutes): void {
  const { reader, mayHold } = routes
  if (mayHold === undefined) return
  server.put<{ Params: { taskId: string } }>('/v1/holds/:taskId', {
    onRequest: async (request) => mayHold(request.headers.authorization),
    handler: async (request) => {
      const { taskId } = request.params
      const wanted = readHoldRequest(request.body)
      if (!UUID.test(taskId) || wanted === undefined) throw new ProblemError(NOT_A_HOLD)
      if ((await readTaskIndex(reader, taskId)).length === 0) throw new ProblemError(NO_SUCH_TASK)
      const isHeld = (await readLegalHolds(reader)).some((hold) => hold.taskId === taskId)
      if (isHeld !== wanted.held) await routes.batcher.add(holdEntry(taskId, wanted))
      return { taskId, held: wanted.held, changed: isHeld !== wanted.held }
    },
  })
}

function readHoldRequest(body: unknown): HoldRequest | undefined {
  const { held, actor } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (typeof held !== 'boolean' || typeof actor !== 'string' || !NAME.test(actor)) return undefined
  return { held, actor }
}

function holdEntry(taskId: string, { held, actor }: HoldRequest): AuditEntry {
  const id = randomUUID()
  const [trace, span] = [taskId, id].map((one) => one.replaceAll('-', ''))
  return {
    event: held ? 'LEGAL_HOLD_SET' : 'LEGAL_HOLD_LIFTED',
    taskId,
    handoffId: id,
    parentHandoffId: null,
    attempt: 0,
    epoch: 0,
    fromAgent: { agentId: 'auditor', agentVersion: '1', executionId: id },
    toAgent: { agentType: 'audit-log', agentVersion: null },
    traceparent: `00-${trace}-${span?.slice(0, 16)}-00`,
    verdicts: null,
    reason: null,
    cost: null,
    act: { id, actor },
    segments: [],
  }
}

const NOT_A_HOLD = {
  status: 400,
  code: 'BATON_HOLD_INVALID',
  detail: 'a hold names a task, whether it is held, and who says so',
  fix: 'Send {"held": true, "actor": "name"} to /v1/holds/{taskId}.',
}
const NO_SUCH_TASK = {
  status: 404,
  code: 'BATON_TASK_UNKNOWN',
  detail: 'the audit log has no record of this task',
  fix: 'Check the task id; a record exists once a handoff of the task has been judged.',
}
