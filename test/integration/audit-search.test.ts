// The log is searched over both tiers: everything that fits is found once, the newest first, and each hit says how well it is proven.
import { randomUUID } from 'node:crypto'
import { readCosts, readCoveredSizes, searchLog } from '@baton/audit'
import type { ColdStore, CostKey, Criteria, SearchHit, SearchPosition } from '@baton/audit'
import { facts, operationEntry } from '@baton/ledger'
import type { AuditEntry } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { RunningAuditor } from './audit-fixture.ts'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

const DAY_MS = 86_400_000
const EVIDENCE_TOKEN = 'evidence-token-14e10d570047667f904261'

let tiers: Tiers
let auditor: RunningAuditor
const agent = (agentId: string) => ({ agentId, agentVersion: '1.0.0', executionId: randomUUID() })

const cents = (total: number, promptTokens: number) => ({
  spentMicroUSD: total * 10_000,
  remainingMicroUSD: 1_000_000,
  promptTokens,
  completionTokens: 0,
})

/** A task over two days that fans out: running totals of 1, 3, 3 and 4 cents. */
const [root, left] = [randomUUID(), randomUUID()]
const ofTask = { taskId: randomUUID(), segments: [] }
const toAgent = (agentType: string) => ({ toAgent: { agentType, agentVersion: null } })
const splitter = { ...ofTask, parentHandoffId: root, fromAgent: agent('splitter') }
const ROOT = { ...ofTask, handoffId: root, fromAgent: agent('starter'), ...toAgent('splitter') }
const LEFT = { ...splitter, handoffId: left, ...toAgent('left') }
const YESTERDAY = [
  { ...ROOT, cost: cents(1, 5) },
  { ...LEFT, cost: cents(3, 7) },
]
const TODAY: readonly Partial<AuditEntry>[] = [
  { ...splitter, ...toAgent('right'), cost: cents(3, 7) },
  { ...LEFT, event: 'EXECUTION_COMPLETED', cost: cents(4, 2) },
]

/** Two days in the cold store alone, then one in the database; something to find in each. */
beforeAll(async () => {
  tiers = await createTiers()
  await tiers.append(41, 200)
  await tiers.append(41, 3, { event: 'HANDOFF_REJECTED', reason: 'SAFETY_VIOLATION' })
  await tiers.append(40, 53, { fromAgent: agent('outsider') })
  await tiers.append(39, 256)
  await tiers.append(1, 20)
  for (const step of YESTERDAY) await tiers.append(1, 1, step)
  await tiers.append(1, 2, { event: 'HANDOFF_REJECTED', reason: 'SAFETY_VIOLATION' })
  await tiers.append(1, 1, {
    event: 'HANDOFF_APPROVED',
    reason: 'LOW_RISK',
    act: { id: randomUUID(), actor: 'ann' },
    fromAgent: agent('outsider'),
    verdicts: null,
    cost: null,
    segments: [],
  })
  const large = {
    spentMicroUSD: 2_000_000,
    remainingMicroUSD: 0,
    promptTokens: 0,
    completionTokens: 0,
  }
  await tiers.append(1, 1, { cost: large })
  await tiers.sealing.sealed()
  const archiver = await tiers.startArchiver()
  await tiers.archived(({ hotFrom }) => hotFrom === 512)
  await archiver.stop()
  await tiers.sealing.sealed()
  auditor = await tiers.fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: tiers.sealing.publicKey,
    BATON_COLD_FOLDER: tiers.folder,
    BATON_AUDIT_EVIDENCE_TOKEN: EVIDENCE_TOKEN,
  })
}, 60_000)
afterAll(() => tiers?.close())

/** Every hit, page by page. */
async function search(criteria: Criteria, limit = 100) {
  const hits: SearchHit[] = []
  const { fixture, cold, sealKey } = tiers
  const covered = await readCoveredSizes(fixture.reader, sealKey)
  let position: SearchPosition | undefined
  let records = 0
  do {
    const page = await searchLog(fixture.reader, { criteria, limit, position, covered, cold })
    expect(page.hits.length).toBeLessThanOrEqual(limit)
    expect(page.looked.findings).toEqual([])
    hits.push(...page.hits)
    records += page.looked.records
    position = page.next
  } while (position !== undefined)
  return { hits, records }
}

const seqsOf = (hits: readonly SearchHit[]) => hits.map(({ body }) => body.seq)

describe('a search', () => {
  test.each<[string, Criteria, number, ('hot' | 'cold')[]]>([
    ['a reason', { reason: 'SAFETY_VIOLATION' }, 5, ['hot', 'cold']],
    ['an agent on either side', { agent: 'outsider' }, 54, ['hot', 'cold']],
    ['the agent that sent', { fromAgent: 'outsider' }, 54, ['hot', 'cold']],
    ['the agent that received', { toAgent: 'outsider' }, 0, []],
    ['a person who decided', { decidedBy: 'ann' }, 1, ['hot']],
    ['events', { events: ['HANDOFF_APPROVED', 'HANDOFF_REJECTED'] }, 6, ['hot', 'cold']],
    ['what had been spent', { costMin: 1_000_000, costMax: 3_000_000 }, 1, ['hot']],
    ['all of these', { agent: 'outsider', reason: 'LOW_RISK', decidedBy: 'ann' }, 1, ['hot']],
    ['a part of a name', { agent: 'outside' }, 0, []],
  ])('by %s finds each record once, the newest first', async (_, criteria, count, found) => {
    const { hits } = await search(criteria)
    expect(hits).toHaveLength(count)
    expect(seqsOf(hits)).toEqual([...new Set(seqsOf(hits))].toSorted((one, other) => other - one))
    expect([...new Set(hits.map(({ tier }) => tier))]).toEqual(found)
    for (const { assurance, tier, findings } of hits) {
      expect(findings).toEqual([])
      expect([tier, assurance]).toEqual([expect.stringMatching(/hot|cold/), 'archived'])
    }
  })

  test('answers in pages that follow each other, and in all says everything', async () => {
    const { hits, records } = await search({}, 7)
    expect(seqsOf(hits)).toEqual(
      Array.from({ length: hits.length }, (_, at) => hits.length - 1 - at),
    )
    expect(hits.length).toBeGreaterThan(536)
    expect(records).toBeGreaterThanOrEqual(hits.length)
  })

  test('by time reads no older piece than it must', async () => {
    const now = Date.now()
    const since = {
      sinceMicros: (now - 40.5 * DAY_MS) * 1_000,
      untilMicros: (now - 39.5 * DAY_MS) * 1_000,
    }
    const { hits, records } = await search(since)
    expect(hits).toHaveLength(53)
    expect(hits.every(({ body }) => body.fromAgent.agentId === 'outsider')).toBe(true)
    expect(records).toBeLessThanOrEqual(256)
    expect((await search({ untilMicros: 1 })).hits).toEqual([])
  })

  test('by task answers what its trace has, whichever tier it stands in', async () => {
    const [rejected] = (await search({ reason: 'SAFETY_VIOLATION' })).hits.slice(-1)
    const { hits } = await search({ taskId: rejected?.body.taskId })
    expect(hits.map(({ body }) => body.event)).toEqual(['HANDOFF_REJECTED'])
  })
})

describe('over HTTP', () => {
  const ask = (path: string, body: object, token = 'read-token-ecae13117d6f0584c25a9d') =>
    fetch(auditor.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const answer = async (response: Response) => {
    expect(response.status).toBe(200)
    return (await response.json()) as {
      hits: { event: string; decidedBy: string }[]
      cursor: string | null
    }
  }

  test('who decided is answered with the proof of each record', async () => {
    const page = await answer(
      await ask('/v1/search', { decidedBy: 'ann', events: ['HANDOFF_APPROVED'] }),
    )
    expect(page).toMatchObject({
      hits: [
        {
          event: 'HANDOFF_APPROVED',
          decidedBy: 'ann',
          byPerson: true,
          reason: 'LOW_RISK',
          assurance: 'archived',
        },
      ],
      looked: { since: null, proven: expect.any(Number), findings: [] },
      cursor: null,
    })
  })

  test('a page goes on with the cursor of the one before', async () => {
    const first = await answer(await ask('/v1/search', { agent: 'outsider', limit: 50 }))
    const second = await answer(
      await ask('/v1/search', { agent: 'outsider', limit: 50, cursor: first.cursor }),
    )
    expect([first.hits.length, second.hits.length, second.cursor]).toEqual([50, 4, null])
  })

  test.each<[object, string]>([
    [{ agnet: 'outsider' }, ''],
    [{ events: ['HANDOFF_LOST'] }, '/events/0'],
    [{ since: '2026-13-01T00:00:00Z' }, '/since'],
    [{ until: '2026-02-30T00:00:00Z' }, '/until'],
    [{ cursor: 'W10x' }, '/cursor'],
    [{ limit: 1_000 }, '/limit'],
  ])('refuses %j', async (body, pointer) => {
    const problem = await problemOf(await ask('/v1/search', body))
    expect(problem).toMatchObject({ status: 400, code: 'BATON_SEARCH_INVALID', pointer })
  })

  test('where a person stands is told to those who may export, and to nobody else', async () => {
    const subject = `subject-${randomUUID()}`
    const taskId = randomUUID()
    const segments = [{ kind: 'personal' as const, subject, text: 'a name' }]
    await auditor.client.append([entryOf({ taskId, segments })])
    const refused = await problemOf(await ask('/v1/search', { subject }))
    expect(refused).toMatchObject({ status: 403, code: 'BATON_TOKEN_REFUSED' })
    const page = await answer(await ask('/v1/search', { subject }, EVIDENCE_TOKEN))
    expect(page.hits).toMatchObject([{ taskId, event: 'HANDOFF_ACCEPTED' }])
    expect(JSON.stringify(page)).not.toContain(subject)
    expect(
      await answer(await ask('/v1/search', { subject: 'nobody' }, EVIDENCE_TOKEN)),
    ).toMatchObject({ hits: [] })
  })

  test('a file of results is recorded, once', async () => {
    const taken = { agent: 'outsider', limit: 50, export: 'CSV' }
    expect((await problemOf(await ask('/v1/search', taken))).status).toBe(403)
    const first = await answer(await ask('/v1/search', taken, EVIDENCE_TOKEN))
    await answer(await ask('/v1/search', { ...taken, cursor: first.cursor }, EVIDENCE_TOKEN))
    await ask('/v1/costs', { by: ['agent'], export: 'PARQUET' }, EVIDENCE_TOKEN)
    const page = await answer(await ask('/v1/search', { events: ['EVIDENCE_EXPORTED'] }))
    const address = expect.stringMatching(/127\.0\.0\.1$/)
    const operation = { right: 'evidence-token', address }
    const by = { decidedBy: 'evidence-token', operation }
    expect(page.hits).toMatchObject([
      { reason: 'COSTS_PARQUET', ...by },
      { reason: 'RESULTS_CSV', ...by },
    ])
  })

  test('what operators did is found by its event, with whose it was and by what right', async () => {
    const made = operationEntry({
      event: 'API_KEY_MADE',
      id: randomUUID(),
      at: new Date().toISOString(),
      actor: 'ann',
      by: 'cli',
      tenant: 'acme',
      subject: '3f2a9c1b7d40',
      right: 'database-owner',
      details: facts('SCOPE', ['handoffs:send']),
    })
    await auditor.client.append([made])
    const { hits } = await answer(await ask('/v1/search', { events: ['API_KEY_MADE'] }))
    expect(hits).toMatchObject([{ decidedBy: 'ann', tenant: 'acme', operation: made.operation }])
  })
})

describe('costs', () => {
  const costs = async (
    by: CostKey[],
    range: { sinceMicros?: number; untilMicros?: number } = {},
  ) => {
    const { fixture, cold, sealKey } = tiers
    const covered = await readCoveredSizes(fixture.reader, sealKey)
    const page = await readCosts(fixture.reader, { by, ...range, covered, cold })
    expect(page.next).toBeUndefined()
    return page
  }
  const spent = (rows: readonly { spentMicroUSD: number }[]) =>
    rows.reduce((sum, { spentMicroUSD }) => sum + spentMicroUSD, 0)

  const dayOf = (daysAgo: number) =>
    new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10)

  test('are differences, counted once, on the day of the record, however the time is cut', async () => {
    const before = await costs(['agent', 'to', 'day'])
    for (const step of TODAY) await tiers.append(0, 1, step)
    const after = await costs(['agent', 'to', 'day'])
    expect(spent(after.rows) - spent(before.rows)).toBe(10_000)
    const own = after.rows.filter(({ agent: who }) =>
      ['starter', 'splitter', 'left'].includes(who ?? ''),
    )
    expect(
      own
        .map(({ agent: who, to, day, spentMicroUSD, promptTokens }) => [
          who,
          to,
          day,
          spentMicroUSD,
          promptTokens,
        ])
        .toSorted(),
    ).toEqual(
      [
        ['left', null, dayOf(0), 10_000, 2],
        ['splitter', 'left', dayOf(1), 20_000, 7],
        ['splitter', 'right', dayOf(0), 0, 0],
        ['starter', 'splitter', dayOf(1), 10_000, 5],
      ].toSorted(),
    )
    const cut = Date.parse(`${dayOf(0)}T00:00:00Z`) * 1_000
    const [old, young] = [
      await costs(['agent'], { untilMicros: cut }),
      await costs(['agent'], { sinceMicros: cut }),
    ]
    expect(spent(old.rows) + spent(young.rows)).toBe(spent(after.rows))
    expect(after.doubtful).toEqual([])
  })

  test('read an object of the cold store once, however many tasks stand in it', async () => {
    const { fixture, cold } = tiers
    const read: string[] = []
    const get: ColdStore['get'] = (name) => {
      if (name.includes('/tile/entries/')) read.push(name)
      return cold.get(name)
    }
    await readCosts(fixture.reader, { by: ['agent'], cold: { ...cold, get } })
    expect(new Set(read).size).toBe(2)
    expect(read).toHaveLength(2)
  })

  test('say how many of their records are proven', async () => {
    await tiers.sealing.sealed()
    const { records, rows } = await costs(['day'])
    expect(records.unproven).toBe(0)
    expect(records.proven).toBeGreaterThan(500)
    expect(rows.map(({ day }) => day)).toContain(dayOf(41))
    expect(rows.every(({ agent: who, to }) => who === null && to === null)).toBe(true)
  })
})

describe('several chains', () => {
  test('are answered as one, in the order of time, page by page', async () => {
    const fixture = await createAuditFixture(4)
    try {
      const { client } = await fixture.startAuditor()
      for (let at = 0; at < 6; at += 1) {
        await client.append(Array.from({ length: 10 }, () => entryOf({ attempt: at + 1 })))
      }
      const hits: SearchHit[] = []
      let position: SearchPosition | undefined
      do {
        const page = await searchLog(fixture.reader, { criteria: {}, limit: 7, position })
        hits.push(...page.hits)
        position = page.next
      } while (position !== undefined)
      const times = hits.map(({ body }) => body.recordedAt)
      expect(new Set(hits.map(({ recordHash }) => recordHash)).size).toBe(60)
      expect(hits).toHaveLength(60)
      expect(times).toEqual(times.toSorted().toReversed())
      expect(new Set(hits.map(({ body }) => body.origin)).size).toBeGreaterThan(1)
      expect(hits.every(({ assurance }) => assurance === 'committed')).toBe(true)
    } finally {
      await fixture.close()
    }
  })
})

/** Alters the log as its owner can, and puts everything back. */
async function whileAltered(statements: readonly string[], judge: () => Promise<void>) {
  const { superuser } = tiers.fixture
  const does = async (text: string) => void (await superuser.query({ text }))
  for (const table of ['record', 'head', 'archive']) {
    await does(`alter table audit.${table} disable trigger user`)
    await does(`create table public.kept_${table} as table audit.${table}`)
  }
  try {
    for (const statement of statements) await does(statement)
    await judge()
  } finally {
    for (const table of ['record', 'head', 'archive']) {
      await does(`delete from audit.${table}`)
      await does(`insert into audit.${table} select * from public.kept_${table}`)
      await does(`drop table public.kept_${table}`)
    }
  }
}

/** The newest of the rejected records gets another reason, so that nobody who looks for it finds it. */
const otherReason = `convert_to(replace(convert_from(body, 'UTF8'), 'SAFETY_VIOLATION', 'BUDGET_EXHAUSTED'), 'UTF8')`
const newestRejected = `seq = (select max(seq) from audit.record where position('SAFETY_VIOLATION'::bytea in body) > 0)`

const laterTime = `convert_to(regexp_replace(convert_from(body, 'UTF8'), '"recordedAt":"[0-9]{4}', '"recordedAt":"2999'), 'UTF8')`

describe('that nothing is missing', () => {
  const look = async (criteria: Criteria) => {
    const { fixture, cold, sealKey } = tiers
    const covered = await readCoveredSizes(fixture.reader, sealKey)
    return (await searchLog(fixture.reader, { criteria, limit: 500, covered, cold })).looked
  }

  test.each<[string, Criteria]>([
    ['of a whole log', { reason: 'SAFETY_VIOLATION' }],
    ['of a time', { untilMicros: (Date.now() - 39.5 * DAY_MS) * 1_000 }],
  ])('%s is proven in both tiers', async (_, criteria) => {
    await tiers.sealing.sealed()
    const { records, proven, findings } = await look(criteria)
    expect(findings).toEqual([])
    expect(records).toBeGreaterThan(250)
    expect(proven).toBe(records)
  })

  test('of a task is proven by the map of tasks', async () => {
    const { taskId } = (await search({ decidedBy: 'ann' })).hits[0]?.body ?? {}
    const looked = await eventually(
      async () => {
        const found = await look({ taskId })
        return found.proven > 0 && found
      },
      { deadlineMs: 10_000, describe: () => tiers.sealer.output() },
    )
    expect(looked).toMatchObject({ proven: looked.records, findings: [] })
  })

  test('is not said of what no seal covers', async () => {
    const { fixture, cold, sealKey } = tiers
    const covered = await readCoveredSizes(fixture.reader, sealKey)
    await tiers.append(0, 5)
    const criteria = { reason: 'SAFETY_VIOLATION' }
    const known = { criteria, limit: 500, cold }
    const { looked } = await searchLog(fixture.reader, { ...known, covered })
    expect(looked).toMatchObject({ proven: looked.records - 5, findings: [] })
    const unsealed = await searchLog(fixture.reader, known)
    expect(unsealed.looked).toMatchObject({ records: looked.records, proven: 0, findings: [] })
  })

  test.each<[string, string[], Criteria, string]>([
    [
      'a record was altered until it does not fit',
      [
        `update audit.record set body = ${otherReason}, record_hash = sha256('\\x00'::bytea || ${otherReason}) where ${newestRejected}`,
      ],
      { reason: 'SAFETY_VIOLATION' },
      'SEAL_ROOT',
    ],
    [
      'a record stands in the place of another',
      [
        `update audit.record r set body = o.body, record_hash = o.record_hash from audit.record o where o.chain = r.chain and o.seq = r.seq - 4 and r.${newestRejected}`,
      ],
      { reason: 'SAFETY_VIOLATION' },
      'SEAL_ROOT',
    ],
    [
      'a record stands there twice',
      [
        `insert into audit.record select (jsonb_populate_record(r, jsonb_build_object('recorded_at', r.recorded_at + interval '1 second'))).* from audit.record r where ${newestRejected}`,
      ],
      { reason: 'BUDGET_EXHAUSTED' },
      'RECORD_SEQ',
    ],
    [
      'the end was cut, and the head with it',
      [
        'delete from audit.record where seq >= (select size - 4 from audit.head where chain = 0)',
        'update audit.head set size = size - 4 where chain = 0',
      ],
      { reason: 'SAFETY_VIOLATION' },
      'RECORD_SEQ',
    ],
    [
      'a time was written into a record, so that younger ones are passed over',
      [
        `update audit.record set body = ${laterTime}, record_hash = sha256('\\x00'::bytea || ${laterTime})`,
      ],
      { reason: 'SAFETY_VIOLATION', untilMicros: Date.now() * 1_000 + DAY_MS * 1_000 },
      'SEAL_ROOT',
    ],
  ])('is not said where %s', async (_, statements, criteria, rule) => {
    await tiers.sealing.sealed()
    await whileAltered(statements, async () => {
      expect(await look(criteria)).toMatchObject({ proven: 0, findings: [{ rule }] })
    })
    expect((await look(criteria)).findings).toEqual([])
  })
})

test('records that are marked as expired, and no record says so, are missed by a search', async () => {
  const statement = 'update audit.archive set min_index = 512 where log = 0'
  await whileAltered([statement], async () => {
    const { fixture, cold, sealKey } = tiers
    const covered = await readCoveredSizes(fixture.reader, sealKey)
    const { looked } = await searchLog(fixture.reader, { criteria: {}, limit: 500, covered, cold })
    expect(looked.findings).toMatchObject([{ rule: 'RECORD_SEQ' }])
    expect(looked.proven).toBe(looked.records)
  })
})

describe('what somebody altered', () => {
  test('is said of the hit, and what is gone of the search', async () => {
    const { superuser, reader } = tiers.fixture
    const covered = await readCoveredSizes(reader, tiers.sealKey)
    const wanted = {
      criteria: { reason: 'SAFETY_VIOLATION' },
      limit: 10,
      covered,
      cold: tiers.cold,
    }
    const before = await searchLog(reader, wanted)
    const seq = before.hits[0]?.body.seq
    await superuser.query({ text: 'alter table audit.record disable trigger user' })
    await superuser.query({
      text: `update audit.record set body = convert_to(replace(convert_from(body, 'UTF8'), '"attempt":1', '"attempt":2'), 'UTF8'),
        record_hash = sha256('\\x00'::bytea || convert_to(replace(convert_from(body, 'UTF8'), '"attempt":1', '"attempt":2'), 'UTF8'))
        where seq = $1`,
      values: [seq],
    })
    const { hits } = await searchLog(reader, wanted)
    const altered = hits.find(({ body }) => body.seq === seq)
    expect(altered).toMatchObject({ assurance: 'committed', findings: [{ rule: 'SEAL_ROOT' }] })
    expect(hits).toHaveLength(before.hits.length)
    await superuser.query({
      text: 'delete from audit.record where seq = $1',
      values: [(seq ?? 0) - 3],
    })
    const { looked } = await searchLog(reader, wanted)
    expect(looked.findings).toMatchObject([{ rule: 'RECORD_SEQ' }])
  })
})
