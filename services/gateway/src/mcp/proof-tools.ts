// Tools that prove: what the audit log says of a task, and whether all of it is what was recorded.
import { UUID_PATTERN } from '@baton/protocol'
import { payload, UNTRUSTED } from './shown.ts'
import { closed, READS, tool } from './tool.ts'
import type { CallRoute } from './tool.ts'

const TASK = closed(
  { taskId: { type: 'string', pattern: UUID_PATTERN, description: 'The id of the task.' } },
  ['taskId'],
)

interface Trace {
  readonly task: { readonly status: string; readonly spentUSD: number } | null
  readonly handoffs: readonly Record<string, unknown>[]
  readonly audit: {
    readonly records: readonly { readonly body: Body; readonly [member: string]: unknown }[]
    readonly verified: boolean
    readonly expired?: unknown
    readonly gaps?: readonly unknown[]
    readonly findings?: readonly unknown[]
    readonly unrecorded: readonly string[]
    readonly expiredHandoffs: readonly string[]
    readonly alteredStreams: readonly string[]
    readonly isAbsent: boolean
    readonly ends?: readonly unknown[]
    readonly seenBy?: unknown
  }
}

/** A decision record; what was said is left where it is. */
interface Body {
  readonly [member: string]: unknown
}

const RECORDS_MAX = 200

const RECORD_MEMBERS = [
  'taskSeq',
  'recordedAt',
  'event',
  'handoffId',
  'attempt',
  'reason',
  'fromAgent',
  'toAgent',
  'cost',
  'act',
] as const

const HANDOFF_MEMBERS = [
  'handoffId',
  'taskSeq',
  'fromAgent',
  'toAgent',
  'state',
  'reason',
  'attempt',
  'costUSD',
  'createdAt',
  'endedAt',
] as const

const only = (whole: Readonly<Record<string, unknown>>, names: readonly string[]): object =>
  Object.fromEntries(
    names.flatMap((name) => (whole[name] === undefined ? [] : [[name, whole[name]]])),
  )

const list = (items: object) => ({ type: 'array', items })
const anything = {}
const object = { type: 'object' }
const yesOrNo = { type: 'boolean' }
const count = { type: 'integer', minimum: 0 }

const readTrace = async (taskId: string, call: CallRoute): Promise<Trace> =>
  (await call({ method: 'GET', path: `/v2/tasks/${taskId}/trace` })) as Trace

const verdictOf = ({ audit }: Trace, taskId: string): string =>
  audit.verified
    ? `Verified: ${audit.records.length} records of task ${taskId}, none missing and none changed.`
    : `NOT verified: the records of task ${taskId} are not what was recorded, or some are missing. Tell the operator, and keep a copy of the database.`

const traceTask = tool<{ readonly taskId: string }>({
  name: 'trace_task',
  title: 'Trace a task',
  description:
    'What happened to a task, hop by hop, from the tamper-evident audit log: its decisions in order (at most the latest 200), what each cost, who decided, how well each record is kept, and whether all of it verifies.',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: TASK,
  outputSchema: {
    type: 'object',
    properties: {
      task: { type: ['object', 'null'], description: 'Null where only the log knows it any more.' },
      handoffs: list(object),
      records: list(object),
      recordsTotal: count,
      verified: yesOrNo,
      resource: { type: 'string', description: 'The resource that has the whole trace.' },
      ...UNTRUSTED,
    },
    required: ['task', 'handoffs', 'records', 'recordsTotal', 'verified', 'resource'],
  },
  async run({ taskId }, call) {
    const trace = await readTrace(taskId, call)
    const { task, handoffs, audit } = trace
    const href = `/v2/tasks/${taskId}/trace`
    const records = audit.records.slice(-RECORDS_MAX).map(({ body, recordHash, assurance }) => ({
      ...only(body, RECORD_MEMBERS),
      recordHash,
      assurance,
    }))
    const state = task === null ? 'The database no longer knows it.' : `It is ${task.status}.`
    return {
      data: {
        task: payload(task, href),
        handoffs: handoffs.slice(-RECORDS_MAX).map((one) => only(one, HANDOFF_MEMBERS)),
        records,
        recordsTotal: audit.records.length,
        verified: audit.verified,
        resource: `baton://tasks/${taskId}/trace`,
      },
      text: `${verdictOf(trace, taskId)} ${state}`,
      untrusted: ['/task/result'],
    }
  },
})

const verifyTask = tool<{ readonly taskId: string }>({
  name: 'verify_task',
  title: 'Verify a task',
  description:
    'Whether the audit log proves a task: nothing missing, nothing changed, a record for every accepted handoff. What is wrong is named.',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: TASK,
  outputSchema: {
    type: 'object',
    properties: {
      taskId: { type: 'string' },
      verified: yesOrNo,
      records: count,
      expired: anything,
      gaps: list(anything),
      findings: list(anything),
      unrecorded: list({ type: 'string' }),
      alteredStreams: list({ type: 'string' }),
      expiredHandoffs: list({ type: 'string' }),
      isAbsent: yesOrNo,
      ends: list(anything),
      seenBy: anything,
    },
    required: ['taskId', 'verified', 'records', 'gaps', 'findings', 'unrecorded'],
  },
  async run({ taskId }, call) {
    const trace = await readTrace(taskId, call)
    const {
      records,
      gaps = [],
      findings = [],
      ends = [],
      expired = 0,
      seenBy = null,
      ...rest
    } = trace.audit
    const { verified, unrecorded, alteredStreams, expiredHandoffs, isAbsent } = rest
    return {
      data: {
        taskId,
        verified,
        records: records.length,
        expired,
        gaps: gaps.slice(0, FINDINGS_MAX),
        findings: findings.slice(0, FINDINGS_MAX),
        unrecorded: unrecorded.slice(0, FINDINGS_MAX),
        alteredStreams: alteredStreams.slice(0, FINDINGS_MAX),
        expiredHandoffs: expiredHandoffs.slice(0, FINDINGS_MAX),
        isAbsent,
        ends,
        seenBy,
      },
      text: verdictOf(trace, taskId),
    }
  },
})

const FINDINGS_MAX = 20

interface Verdict {
  readonly verdict: string
  readonly records: number
  readonly findings: readonly unknown[]
  readonly findingsTotal: number
}

const verifyLog = tool<object>({
  name: 'verify_log',
  title: 'Verify the audit log',
  description:
    'Read the whole audit log again and judge it: verified, or what is wrong (at most 20 findings). It takes as long as the log is long; an answer of the last minute is given again.',
  scope: 'metrics:read',
  annotations: READS,
  inputSchema: closed({}),
  outputSchema: {
    type: 'object',
    properties: {
      verdict: { type: 'string' },
      records: count,
      findings: list(anything),
      findingsTotal: count,
      verifiedAt: { type: 'string' },
    },
    required: ['verdict', 'records', 'findings', 'findingsTotal', 'verifiedAt'],
  },
  async run(_, call) {
    const found = (await call({ method: 'GET', path: '/v2/verification' })) as Verdict
    const { verdict, records, findings, findingsTotal } = found
    return {
      data: { ...found, findings: findings.slice(0, FINDINGS_MAX) },
      text: `The log of ${records} records is judged: ${verdict}, ${findingsTotal} findings.`,
    }
  },
})

export const PROOF_TOOLS = [traceTask, verifyTask, verifyLog]
