// Each invariant of the campaign's checker notices what it is for, and is silent about a sound system.
import { describe, expect, it } from 'vitest'
import { checkAll, INVARIANTS } from '../chaos/check.ts'
import type { Evidence } from '../chaos/evidence.ts'
import { operationsOf } from '../chaos/history.ts'
import { handoff, line, operation, record, SOUND, stream } from './sound-evidence.ts'

const [task] = SOUND.tasks
const rolledBack = handoff({
  state: 'ROLLED_BACK',
  reason: 'X',
  costMicroUSD: 0,
  resultFencingToken: null,
})
const fault = {
  atMs: 0,
  kind: 'redis.kill',
  target: 'redis',
  parameters: {},
  begunAt: 1_000,
  endedAt: 1_000,
}
const ticks = Array.from({ length: 20 }, (_, index) =>
  line({ what: 'tick', at: 1_400 + index * 100 }),
)

const given = (at: number) => ({ what: 'given', handoffId: 'h1', at }) as const
const SESSION = { operations: [operation({ via: 'session' })] }
const QUEUED = {
  taskId: 't1',
  status: 'queued',
  messageId: 'm1',
  how: 'answered',
  at: 1_100,
} as const
const TOLD = { ...QUEUED, status: 'done', how: 'pushed', at: 1_350 } as const

const BREACHES: readonly {
  readonly id: string
  readonly what: string
  readonly change: Partial<Evidence>
}[] = [
  { id: 'I1', what: 'an acknowledged handoff is gone', change: { handoffs: [] } },
  { id: 'I2', what: 'something still waits', change: { stuck: ['open: h1 QUEUED'] } },
  {
    id: 'I3',
    what: 'the effect of a lost fencing token committed',
    change: { handoffs: [handoff({ fencingToken: 2 })] },
  },
  {
    id: 'I3',
    what: 'two executions sent the next handoffs',
    change: {
      handoffs: [
        handoff(),
        handoff({ id: 'h2', taskSeq: 2, parentId: 'h1', fromExecution: 'x1' }),
        handoff({ id: 'h3', taskSeq: 3, parentId: 'h1', fromExecution: 'x2' }),
      ],
    },
  },
  { id: 'I3', what: 'two idempotency keys', change: { ledger: [line(), line({ key: 'other' })] } },
  { id: 'I4', what: 'no decision record', change: { records: [] } },
  { id: 'I4', what: 'the record came later', change: { records: [record({ at: 1_300 })] } },
  { id: 'I4', what: 'another receipt', change: { handoffs: [handoff({ auditHash: 'cc' })] } },
  { id: 'I5', what: 'a chain that breaks', change: { chain: { ok: false, findings: ['gap'] } } },
  {
    id: 'I5',
    what: 'a record of an unknown handoff',
    change: { records: [...SOUND.records, record({ handoffId: 'h9' })] },
  },
  { id: 'I5', what: 'an end without its record', change: { records: [record()] } },
  { id: 'I6', what: 'a handoff nobody sent', change: { operations: [] } },
  {
    id: 'I6',
    what: 'a refused send that is stored',
    change: { operations: [operation({ outcome: 'refused' })] },
  },
  {
    id: 'I7',
    what: 'one fencing token executed twice',
    change: { ledger: [line(), line({ at: 1_220 }), line({ what: 'end', at: 1_250 })] },
  },
  {
    id: 'I7',
    what: 'an overtaken execution that is never told',
    change: { ledger: [line(), line({ fencingToken: 2, at: 1_300 }), ...ticks] },
  },
  {
    id: 'I8',
    what: 'the second step began before the first ended',
    change: {
      handoffs: [handoff(), handoff({ id: 'h2', taskSeq: 2, parentId: 'h1' })],
      ledger: [...SOUND.ledger, line({ handoffId: 'h2', at: 1_230 })],
    },
  },
  {
    id: 'I8',
    what: 'a join began before the last branch had ended',
    change: {
      handoffs: [
        handoff({ id: 'h0' }),
        handoff({ taskSeq: 2, parentId: 'h0', branchId: 'b1', fanOutId: 'f1', fannedOutBy: 'h0' }),
        handoff({ id: 'h2', taskSeq: 3, parentId: 'h0', joinsId: 'f1', createdAt: 1_500 }),
      ],
      ledger: [...SOUND.ledger, line({ handoffId: 'h2', at: 1_230 })],
    },
  },
  {
    id: 'I9',
    what: 'a cost booked twice',
    change: { tasks: task === undefined ? [] : [{ ...task, spentMicroUSD: 120 }] },
  },
  {
    id: 'I9',
    what: 'another cost than the agent wrote down',
    change: { ledger: [line(), line({ what: 'end', costMicroUSD: 11 })] },
  },
  {
    id: 'I10',
    what: 'an end that its kind must not have',
    change: { operations: [operation({ expect: { states: ['DEAD_LETTERED'] } })] },
  },
  {
    id: 'I10',
    what: 'something refused executed',
    change: { handoffs: [handoff({ state: 'DEAD_LETTERED', reason: 'SAFETY_VIOLATION' })] },
  },
  {
    id: 'I11',
    what: 'a rollback to another checkpoint',
    change: {
      handoffs: [rolledBack],
      tasks: task === undefined ? [] : [{ ...task, status: 'PENDING_HANDOFF', checkpointId: 'c0' }],
    },
  },
  {
    id: 'I11',
    what: 'a checkpoint with other bytes',
    change: {
      handoffs: [rolledBack],
      operations: [operation({ askedSha256: 'asked' })],
      tasks:
        task === undefined
          ? []
          : [{ ...task, status: 'PENDING_HANDOFF', requestSha256: 'changed' }],
    },
  },
  { id: 'I12', what: 'too many attempts', change: { handoffs: [handoff({ attempt: 4 })] } },
  {
    id: 'I12',
    what: 'a wait beyond its bound',
    change: { returns: [{ handoffId: 'h1', attempt: 1, delayMs: 500 }] },
  },
  { id: 'I13', what: 'half a send', change: { handoffs: [handoff({ hasBody: false })] } },
  {
    id: 'I14',
    what: 'a recovery that takes too long',
    change: {
      faults: [fault],
      handoffs: [handoff({ createdAt: 90_000, acceptedAt: 90_100, endedAt: 90_200 })],
    },
  },
  {
    id: 'I15',
    what: 'another trace',
    change: { operations: [operation({ traceId: 'f'.repeat(32) })] },
  },
  {
    id: 'I16',
    what: 'an agent was given a handoff again without another decision record',
    change: { peers: [given(1_200), given(1_250)] },
  },
  {
    id: 'I16',
    what: 'an agent was given a handoff before its decision record',
    change: { peers: [given(1_100)] },
  },
  {
    id: 'I16',
    what: 'something else committed than what the agent said',
    change: {
      handoffs: [handoff({ toAgent: 'session-worker', said: 'one', resultFencingToken: null })],
      peers: [given(1_200), { ...given(1_250), what: 'finished', said: 'other' }],
    },
  },
  { id: 'I17', what: 'a peer is never told', change: { ...SESSION, told: [QUEUED] } },
  {
    id: 'I17',
    what: 'a peer is told under another id',
    change: { ...SESSION, told: [QUEUED, { ...TOLD, messageId: 'm2' }] },
  },
  {
    id: 'I17',
    what: 'a peer is told something else than what happened',
    change: { ...SESSION, told: [QUEUED, TOLD, { ...TOLD, status: 'error' }] },
  },
  {
    id: 'I17',
    what: 'a peer is told before the end',
    change: { ...SESSION, told: [{ ...TOLD, at: 1_200 }] },
  },
  { id: 'I17', what: 'a peer is tried to be told in vain', change: { tried: ['h1'] } },
  { id: 'I17', what: 'a peer is told of what nobody asked', change: { told: [TOLD] } },
  {
    id: 'I18',
    what: 'a chunk that is missing',
    change: { streams: [stream({ chunks: 2, counted: 2 })] },
  },
  {
    id: 'I18',
    what: 'a chunk that nothing counted',
    change: { streams: [stream({ counted: 2 })] },
  },
  { id: 'I18', what: 'a chunk after the fence', change: { streams: [stream({ misplaced: 1 })] } },
  { id: 'I18', what: 'another stream on record', change: { streams: [stream({ sha256: 'dd' })] } },
  {
    id: 'I18',
    what: 'a stream that no record tells of',
    change: { streams: [stream({ recorded: null })] },
  },
]

const broken = (change: Partial<Evidence>) =>
  new Set(checkAll({ ...SOUND, ...change }).map(({ id }) => id))

describe('the checker', () => {
  it('finds nothing wrong with a sound system', () => {
    expect(checkAll(SOUND)).toEqual([])
  })
  it.each(BREACHES)('names $id when $what', ({ id, change }) => {
    expect([...broken(change)]).toContain(id)
  })
  it('finds nothing wrong where a session peer is told twice under one id', () => {
    expect([...broken({ ...SESSION, told: [QUEUED, TOLD, { ...TOLD, at: 1_400 }] })]).toEqual([])
  })
  it('finds nothing wrong where an agent without fencing tokens said what committed', () => {
    const row = handoff({ toAgent: 'session-worker', said: 'one', resultFencingToken: null })
    const finished = { ...given(1_250), what: 'finished', said: 'one' } as const
    expect([...broken({ handoffs: [row], peers: [given(1_200), finished] })]).toEqual([])
  })
  it('finds nothing wrong with the copies of a receiver list and their join', () => {
    const copy = handoff({ id: 'h2', taskSeq: 2, branchId: 'b2', fanOutId: 'f1' })
    const join = handoff({ id: 'h3', taskSeq: 3, joinsId: 'f1', createdAt: 1_300 })
    const handoffs = [copy, join].map((row) => ({ ...row, fannedOutBy: 'h1' }))
    expect([...broken({ handoffs: [handoff(), ...handoffs] })]).not.toContain('I6')
  })
  it('finds nothing wrong where a join began while what it did not wait for still executed', () => {
    const [fork, branch, join] = [
      handoff({ id: 'h0' }),
      handoff({ taskSeq: 2, branchId: 'b1', fanOutId: 'f1', fannedOutBy: 'h0', state: 'CANCELED' }),
      handoff({ id: 'h2', taskSeq: 3, joinsId: 'f1', fannedOutBy: 'h0', createdAt: 1_500 }),
    ]
    const ledger = [...SOUND.ledger, line({ handoffId: 'h2', at: 1_230 })]
    expect([...broken({ handoffs: [fork, branch, join], ledger })]).not.toContain('I8')
  })
  it('has a breach for each of its eighteen invariants', () => {
    expect(INVARIANTS).toHaveLength(18)
    expect(new Set(BREACHES.map(({ id }) => id))).toEqual(new Set(INVARIANTS.map(({ id }) => id)))
  })
  it('takes up what the doctor finds', () => {
    const rules = [{ promise: 'I8', rule: 'spent and remaining add up', ids: ['h1'] }]
    expect([...broken({ rules })]).toEqual(['I9'])
  })
})

describe('a history', () => {
  const invoke = (attempt: number) => {
    const { outcome: _, ...known } = operation()
    return { ...known, what: 'invoke', attempt } as const
  }
  const answer = (what: 'ok' | 'fail' | 'info', attempt: number) =>
    ({ what, attempt, handoffId: 'h1', at: 1_000 }) as const

  it.each([
    { events: [answer('info', 1), answer('ok', 2)], outcome: 'acknowledged' },
    { events: [answer('fail', 1), answer('fail', 2)], outcome: 'refused' },
    { events: [answer('fail', 1)], outcome: 'unknown' },
    { events: [answer('info', 1), answer('fail', 2)], outcome: 'unknown' },
  ])('calls $events.0.what, then more, $outcome', ({ events, outcome }) => {
    const [read] = operationsOf([invoke(1), invoke(2), ...events])
    expect(read?.outcome).toBe(outcome)
  })
})
