// A task is traced from the audit store alone: by the literal query, by HTTP, with its cost.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { costOfTask, readTrace } from '@baton/audit'
import type { TaskTrace } from '@baton/audit'
import type { AuditEntry } from '@baton/ledger'
import { signedAct } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

let fixture: AuditFixture
let auditor: RunningAuditor

const AGENTS = ['intake', 'clause-extraction', 'legal-analysis', 'risk-scoring'] as const
const taskId = randomUUID()
const handoffIds = [randomUUID(), randomUUID(), randomUUID()]
const SPENT = [80_000, 180_000, 300_000]

const hop = (at: number, changes: Partial<AuditEntry> = {}): AuditEntry =>
  entryOf({
    taskId,
    handoffId: handoffIds[at] as string,
    parentHandoffId: handoffIds[at - 1] ?? null,
    fromAgent: { agentId: AGENTS[at] as string, agentVersion: '1.0.0', executionId: randomUUID() },
    toAgent: { agentType: AGENTS[at + 1] as string, agentVersion: '^1.0.0' },
    cost: {
      spentMicroUSD: SPENT[at] as number,
      remainingMicroUSD: 400_000 - (SPENT[at] as number),
      promptTokens: 1,
      completionTokens: 1,
    },
    ...changes,
  })

beforeAll(async () => {
  fixture = await createAuditFixture()
  auditor = await fixture.startAuditor()
  const returned = { event: 'HANDOFF_REJECTED', reason: 'SCHEMA_INVALID', epoch: 1 } as const
  await auditor.client.append([hop(0), hop(0, { event: 'EXECUTION_COMPLETED', segments: [] })])
  await auditor.client.append([hop(1, returned), hop(1, { epoch: 2, attempt: 2 })])
  await auditor.client.append([hop(2, { event: 'HANDOFF_REJECTED', reason: 'SAFETY_VIOLATION' })])
  await auditor.client.append([hop(2, { event: 'DEAD_LETTERED', reason: 'SAFETY_VIOLATION' })])
  await auditor.client.append(Array.from({ length: 50 }, () => entryOf()))
})
afterAll(() => fixture?.close())

describe('E19 the query of the source', () => {
  test('works as written and answers the latest decision of every handoff', async () => {
    const { rows } = await fixture.reader.query({
      text: `SELECT * FROM handoff_audit WHERE taskId = '${taskId}' ORDER BY timestamp ASC`,
    })
    expect(
      rows.map((row) => [row['handoffid'], row['fromagent'], row['toagent'], row['status']]),
    ).toEqual([
      [handoffIds[0], 'intake', 'clause-extraction', 'ACCEPTED'],
      [handoffIds[1], 'clause-extraction', 'legal-analysis', 'ACCEPTED'],
      [handoffIds[2], 'legal-analysis', 'risk-scoring', 'REJECTED'],
    ])
    expect(rows.map((row) => row['reason'])).toEqual([null, null, 'SAFETY_VIOLATION'])
    expect(rows.map((row) => row['costathandoff'])).toEqual(['0.080000', '0.180000', '0.300000'])
    expect(new Set(rows.map((row) => row['taskid']))).toEqual(new Set([taskId]))
    expect(rows[0]).toMatchObject({
      attempt: 1,
      previousrecordhash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('reads by the index of the task, not by scanning records', async () => {
    for (const view of ['handoff_audit', 'handoff_events']) {
      const { rows } = await fixture.reader
        .query<Record<string, string>>({
          text: `set enable_seqscan = off; explain select * from ${view} where taskId = '${taskId}'`,
        })
        .then(
          (results) =>
            (results as unknown as { rows: Record<string, string>[] }[])[1] as {
              rows: Record<string, string>[]
            },
        )
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan).not.toMatch(/Seq Scan on record/)
      expect(plan).toMatch(/Index Cond: \(task_id = /)
    }
  })

  test('handoff_events has every record of the task', async () => {
    const { rows } = await fixture.reader.query({
      text: `select event from handoff_events where taskid = $1 order by timestamp`,
      values: [taskId],
    })
    expect(rows.map((row) => row['event'])).toEqual([
      'HANDOFF_ACCEPTED',
      'EXECUTION_COMPLETED',
      'HANDOFF_REJECTED',
      'HANDOFF_ACCEPTED',
      'HANDOFF_REJECTED',
      'DEAD_LETTERED',
    ])
  })
})

describe('who decided', () => {
  const released = randomUUID()
  const release = randomUUID()
  const event = (changes: Partial<AuditEntry>) =>
    entryOf({ handoffId: released, taskId: released, ...changes })
  const vote = (actor: string): Partial<AuditEntry> => ({
    event: 'RELEASE_APPROVED',
    reason: 'SAFETY_VIOLATION',
    verdicts: null,
    segments: [],
    act: signedAct({ event: 'RELEASE_APPROVED', taskId: released, handoffId: released }, actor),
  })

  test('a dead letter that was released shows both verdicts, who released it, and which version ran', async () => {
    const unsafe = verdictsWith('reject')
    const steps: Partial<AuditEntry>[] = [
      { event: 'HANDOFF_REJECTED', reason: 'SAFETY_VIOLATION', verdicts: unsafe, epoch: 1 },
      { event: 'DEAD_LETTERED', reason: 'SAFETY_VIOLATION', verdicts: null, segments: [] },
      vote('bob'),
      vote('ann'),
      { event: 'HANDOFF_RELEASED', verdicts: null, segments: [], release },
      { event: 'HANDOFF_ACCEPTED', verdicts: verdictsWith('reject'), release, epoch: 2 },
      {
        event: 'EXECUTION_COMPLETED',
        segments: [],
        epoch: 2,
        toAgent: { agentType: 'clause-extraction', agentVersion: '1.4.2' },
      },
    ]
    for (const step of steps) await auditor.client.append([event(step)])
    const { rows } = await fixture.reader.query({
      text: `SELECT * FROM handoff_audit WHERE taskId = '${released}' ORDER BY timestamp ASC`,
    })
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({
      status: 'ACCEPTED',
      reason: null,
      releaseid: release,
      overriddenreason: 'SAFETY_VIOLATION',
      overriddenverdicts: unsafe,
      decidedby: ['ann', 'bob'],
      executedversion: '1.4.2',
    })
    type Decided = { event: string; by?: string; reason?: string; release?: string }
    const decisions = rows[0]?.['decisions'] as Decided[]
    expect(decisions.map(({ event: what, by, reason }) => [what, by, reason])).toEqual([
      ['HANDOFF_REJECTED', undefined, 'SAFETY_VIOLATION'],
      ['RELEASE_APPROVED', 'bob', 'SAFETY_VIOLATION'],
      ['RELEASE_APPROVED', 'ann', 'SAFETY_VIOLATION'],
      ['HANDOFF_RELEASED', undefined, undefined],
      ['HANDOFF_ACCEPTED', undefined, undefined],
    ])
    expect(decisions.at(-1)?.release).toBe(release)
    const events = await fixture.reader.query({
      text: `select event, actor, actid, releaseid, toagentversion from handoff_events
        where taskid = $1 and (actor is not null or event = 'EXECUTION_COMPLETED') order by timestamp`,
      values: [released],
    })
    expect(events.rows.map((row) => [row['event'], row['actor'], row['toagentversion']])).toEqual([
      ['RELEASE_APPROVED', 'bob', null],
      ['RELEASE_APPROVED', 'ann', null],
      ['EXECUTION_COMPLETED', null, '1.4.2'],
    ])
  })

  test('an acceptance without a release overrides nothing, and a range is no version that ran', async () => {
    const { rows } = await fixture.reader.query({
      text: `select overriddenreason, releaseid, decidedby, executedversion, jsonb_array_length(decisions) as decisions
        from handoff_audit where taskid = $1 order by timestamp`,
      values: [taskId],
    })
    const nobody = {
      overriddenreason: null,
      releaseid: null,
      decidedby: null,
      executedversion: null,
    }
    expect(rows).toEqual([1, 2, 1].map((decisions) => ({ ...nobody, decisions })))
  })
})

const verdictsWith = (decision: 'allow' | 'reject') => ({
  ...(entryOf().verdicts as NonNullable<AuditEntry['verdicts']>),
  safety: { decision, artefactId: 'rules-1', findings: 1 },
})

describe('the trace', () => {
  test('is whole, verified and costed over HTTP as in the library', async () => {
    const trace = await auditor.read<TaskTrace>(`/v1/traces/${taskId}`)
    expect(trace).toEqual(JSON.parse(JSON.stringify(await readTrace(fixture.reader, taskId))))
    expect(trace).toMatchObject({ taskId, verified: true, gaps: [], findings: [] })
    expect(trace.records.map(({ body }) => body.taskSeq)).toEqual([0, 1, 2, 3, 4, 5])
    expect(trace.records.every(({ assurance }) => assurance === 'committed')).toBe(true)
  })

  test('E14 the cost of every hop and of the task', async () => {
    const cost = await costOfTask(fixture.reader, taskId)
    expect(cost.hops.map((each) => each.spentMicroUSD)).toEqual([80_000, 100_000, 120_000])
    expect(cost.totalSpentMicroUSD).toBe(300_000)
    expect(cost.sumOfSnapshotsMicroUSD).toBe(560_000)
  })

  test('shows a record that was hidden by its column', async () => {
    const { superuser } = fixture
    await superuser.query({ text: 'alter table audit.record disable trigger user' })
    await superuser.query({
      text: `update audit.record set task_id = gen_random_uuid() where task_id = $1 and event = 2`,
      values: [taskId],
    })
    const trace = await auditor.read<TaskTrace>(`/v1/traces/${taskId}`)
    expect(trace.verified).toBe(false)
    expect(trace.gaps.map((gap) => gap.kind)).toEqual(['TASK_SEQ', 'TASK_SEQ'])
  })

  test('of a task that nobody can prove to be unknown is not found, of a bad id refused', async () => {
    expect(await auditor.read(`/v1/traces/${randomUUID()}`)).toMatchObject({
      status: 404,
      code: 'BATON_TASK_UNPROVEN',
    })
    expect(await auditor.read('/v1/traces/1')).toMatchObject({
      status: 400,
      code: 'BATON_TASK_ID_INVALID',
    })
  })
})

test('a query parameter that a path does not take is refused', async () => {
  const problem = { status: 400, code: 'BATON_PARAMETER_UNKNOWN' }
  expect(await auditor.read(`/v1/traces/${taskId}?event=ROLLED_BACK`)).toMatchObject({
    ...problem,
    parameter: 'event',
    fix: 'Leave it out, or correct its name: this path takes no query.',
  })
  expect(await auditor.read('/v1/tiers?chain=1')).toMatchObject(problem)
})

test('a HEAD does the work of no route: it is refused, except where the answer costs nothing', async () => {
  const head = (path: string) =>
    fetch(auditor.url + path, {
      method: 'HEAD',
      headers: { authorization: 'Bearer read-token-ecae13117d6f0584c25a9d' },
    })
  const costly = ['verify', 'scrub', `traces/${taskId}`, 'tiers', 'retention', 'holds']
  for (const path of costly) {
    const { status, headers } = await head(`/v1/${path}`)
    expect([path, status, headers.get('allow')]).toEqual([path, 405, 'GET'])
  }
  for (const path of ['/healthz', '/readyz'])
    expect([path, (await head(path)).status]).toEqual([path, 200])
})

test('health, readiness and metrics', async () => {
  expect(await auditor.read('/healthz')).toEqual({ status: 'ok' })
  expect(await auditor.read('/readyz')).toEqual({ status: 'ready' })
  expect((await fetch(`${auditor.url}/metrics`)).status).toBe(404)
  const metrics = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
  expect(metrics).toMatch(/baton_audit_append_seconds_count \d+/)
  expect(metrics).toMatch(/^baton_audit_records_total [1-9]/m)
  expect(metrics).toMatch(/^baton_database_bytes\{database="\w+"\} [1-9]/m)
  expect(metrics).toMatch(/^baton_pool_connections\{state="idle"\} [1-9]/m)
})

test('the auditor says how far each chain stands in which tier', async () => {
  const { store, oldestHotDay, chains, holds } = await auditor.read<{
    readonly store: string | null
    readonly oldestHotDay: string
    readonly chains: readonly { readonly origin: string; readonly records: number }[]
    readonly holds: readonly object[]
  }>('/v1/tiers')
  expect([store, holds]).toEqual([null, []])
  expect(oldestHotDay).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  const { rows } = await fixture.reader.query<{ records: number }>({
    text: 'select count(*)::integer as records from audit.record',
  })
  expect(chains.reduce((sum, { records }) => sum + records, 0)).toBe(rows[0]?.records)
  const untouched = { sealed: 0, archived: 0, partial: 0, hotFrom: 0, minIndex: 0 }
  for (const chain of chains) expect(chain).toMatchObject(untouched)
})
