// The records themselves: append, check receipts, trace, verify, and the scrubber that reads everything again.
import { presenceOf, readTrace } from '@baton/audit'
import type { TaskTrace } from '@baton/audit'
import { ProblemError } from '@baton/http/server'
import type { AuditEntry } from '@baton/ledger'
import { exemplarOf } from '@baton/telemetry'
import type { FastifyRequest } from 'fastify'
import { identifyAppender } from './access.ts'
import { appendRecords, NO_ENTRIES, RECORDS_BODY } from './append-records.ts'
import type { RecordsBody } from './append-records.ts'
import { CHECK_BODY, checkReceipts, NO_RECEIPTS } from './check-receipts.ts'
import type { CheckBody } from './check-receipts.ts'
import type { Core, Part } from './core.ts'
import { refusing } from './problem.ts'
import { BY_TASK } from './schemas.ts'
import type { ByTask } from './schemas.ts'
import { createScrubber } from './scrubber.ts'
import { oneAtATime, verify } from './verification.ts'

export function createRecordPart(core: Core): Part {
  const { settings, metrics, logger, reader, cold, covered, batcher } = core
  const scrubber = createScrubber({
    ...core,
    recordsPerSecond: settings.BATON_AUDIT_SCRUB_PER_SECOND,
  })
  const verifyAll = oneAtATime(() => verify(core))
  const appenderOf = identifyAppender({
    append: settings.BATON_AUDIT_APPEND_TOKEN,
    archive: settings.BATON_AUDIT_ARCHIVE_TOKEN,
  })
  const mayRead = core.callers.guard('read', settings.BATON_AUDIT_READ_TOKEN)
  const unsealedMaxMs = settings.BATON_AUDIT_UNSEALED_MAX_MS
  const queuedMax = settings.BATON_AUDIT_QUEUED_MAX
  const appending = { batcher, queuedMax, people: core.people, logger }
  const byAppenders = {
    onRequest: async ({ headers }: FastifyRequest) => void appenderOf(headers.authorization),
  }
  const byReaders = {
    onRequest: async ({ headers }: FastifyRequest) => void (await mayRead(headers.authorization)),
  }
  return {
    prepare(server) {
      server.post<{ Body: RecordsBody }>(
        '/v1/records',
        { ...byAppenders, ...RECORDS },
        async ({ headers, body }) => {
          const startedAt = performance.now()
          const appender = appenderOf(headers.authorization)
          core.requireClock()
          core.requireSealing()
          core.requireDurable()
          const receipts = await appendRecords(appending, body, appender)
          const [{ traceparent }] = body.entries as [AuditEntry]
          const seconds = (performance.now() - startedAt) / 1000
          metrics.auditAppendSeconds.observe(seconds, exemplarOf(traceparent))
          return { receipts }
        },
      )
      server.post<{ Body: CheckBody }>(
        '/v1/receipts/check',
        { ...byAppenders, ...CHECK },
        async ({ body }) => ({
          states: await checkReceipts({ reader, covered, unsealedMaxMs }, body),
        }),
      )
      server.get<ByTask>('/v1/traces/:taskId', { ...byReaders, ...TRACE }, async ({ params }) => {
        const trace = await readTrace(reader, params.taskId, { covered: covered(), cold })
        if (presenceOf(trace) !== 'there') throw nothingOf(trace)
        return trace
      })
      server.get('/v1/scrub', byReaders, () => scrubber.status())
      server.get('/v1/verify', byReaders, () => verifyAll())
    },
    start: () => scrubber.start(),
    stop: () => scrubber.stop(),
  }
}

const RECORDS = {
  schema: { body: RECORDS_BODY },
  schemaErrorFormatter: refusing({ body: NO_ENTRIES }),
}

const CHECK = {
  schema: { body: CHECK_BODY },
  schemaErrorFormatter: refusing({ body: NO_RECEIPTS }),
}

const TRACE = {
  schema: { params: BY_TASK },
  schemaErrorFormatter: refusing({
    params: new ProblemError({
      status: 400,
      code: 'BATON_TASK_ID_INVALID',
      detail: 'a task id is a lower-case UUID',
      fix: 'Give the taskId of a handoff.',
    }),
  }),
}

/** Why nothing can be shown of a task of which no record is stored: that there is no such task is said only where a signed map of tasks says so. */
export function nothingOf({ findings: [finding], ends: [end] }: TaskTrace): ProblemError {
  const fix = 'Check the task id; a record exists once a handoff of the task has been judged.'
  if (finding !== undefined) {
    const detail = `the audit log holds no record of this task, and it may have lost them: ${finding.message}`
    const next = 'Run `baton verify`, which says what is missing.'
    return new ProblemError({ status: 404, code: 'BATON_TASK_UNPROVEN', detail, fix: next })
  }
  if (end !== undefined) {
    const detail = `the audit log had no record of this task until ${end.until}`
    return new ProblemError({ status: 404, code: 'BATON_TASK_UNKNOWN', detail, fix })
  }
  return new ProblemError({
    status: 404,
    code: 'BATON_TASK_UNPROVEN',
    detail:
      'the audit log holds no record of this task, and that it never had one cannot be proven now',
    fix: `${fix} Proof needs BATON_SEAL_PUBLIC_KEY and a seal that commits to the map of tasks.`,
  })
}
