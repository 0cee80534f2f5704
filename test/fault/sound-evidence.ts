// The evidence of a small system in which everything holds, for tests that break it in one place.
import type { LedgerLine } from '../chaos/effect-ledger.ts'
import type { Evidence, HandoffRow, RecordRow, StreamRow } from '../chaos/evidence.ts'
import type { Operation } from '../chaos/history.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`

export const handoff = (changes: Partial<HandoffRow> = {}): HandoffRow => ({
  id: 'h1',
  taskId: 't1',
  taskSeq: 1,
  branchId: null,
  fanOutId: null,
  joinsId: null,
  fannedOutBy: null,
  budgetMicroUSD: 1_000,
  parentId: null,
  fromExecution: 'x0',
  toAgent: 'last',
  state: 'COMPLETED',
  reason: null,
  attempt: 1,
  attemptsMax: 3,
  checkpointId: 'c1',
  traceparent: TRACEPARENT,
  spentMicroUSD: 100,
  remainingMicroUSD: 900,
  createdAt: 1_000,
  acceptedAt: 1_100,
  endedAt: 1_300,
  hasBody: true,
  hasCheckpoint: true,
  fencingToken: 1,
  status: 'DONE',
  costMicroUSD: 10,
  resultFencingToken: 1,
  said: null,
  auditHash: 'aa',
  ...changes,
})

export const line = (changes: Partial<LedgerLine> = {}): LedgerLine => ({
  what: 'start',
  handoffId: 'h1',
  taskId: 't1',
  fencingToken: 1,
  attempt: 1,
  key: 'h1:effect',
  costMicroUSD: 10,
  traceparent: TRACEPARENT,
  pid: 1,
  at: 1_200,
  ...changes,
})

export const record = (changes: Partial<RecordRow> = {}): RecordRow => ({
  handoffId: 'h1',
  taskId: 't1',
  event: 'HANDOFF_ACCEPTED',
  epoch: 1,
  traceId: TRACE,
  hash: 'aa',
  at: 1_150,
  ...changes,
})

export const stream = (changes: Partial<StreamRow> = {}): StreamRow => ({
  handoffId: 'h1',
  state: 'COMPLETED',
  counted: 3,
  chunks: 3,
  lastSeq: 3,
  misplaced: 0,
  sha256: 'cc',
  recorded: { chunks: 3, sha256: 'cc' },
  ...changes,
})

export const operation = (changes: Partial<Operation> = {}): Operation => ({
  handoffId: 'h1',
  taskId: 't1',
  traceId: TRACE,
  kind: 'last',
  via: 'sdk',
  expect: { states: ['COMPLETED'] },
  outcome: 'acknowledged',
  at: 990,
  ...changes,
})

export const SOUND: Evidence = {
  operations: [operation()],
  sendsKnown: true,
  ledger: [line(), line({ what: 'end', at: 1_250 })],
  peers: [],
  told: [],
  handoffs: [handoff()],
  tasks: [
    {
      id: 't1',
      status: 'COMPLETED',
      budgetMicroUSD: 1_000,
      spentMicroUSD: 110,
      checkpointId: 'c1',
      requestSha256: null,
    },
  ],
  records: [record(), record({ event: 'EXECUTION_COMPLETED', hash: 'bb', at: 1_400 })],
  returns: [],
  streams: [stream()],
  tried: [],
  stuck: [],
  chain: { ok: true, findings: [] },
  rules: [],
  faults: [],
  limits: { leaseMs: 1_000, backoff: { baseMs: 50, capMs: 400 } },
}
