// A person is erased from the log and the log still verifies; a missing segment that no authentic erasure names is tampering.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fetchSigned } from '@baton/testkit'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

/** Nothing is wrong, and nobody outside the database was there to agree: never `ok`. */
const ALONE = { ok: false, verdict: 'incomplete', findings: [] }

let fixture: AuditFixture
let auditor: RunningAuditor

beforeAll(async () => {
  fixture = await createAuditFixture()
  auditor = await fixture.startAuditor()
})
afterAll(() => fixture?.close())

interface Person {
  readonly subject: string
  readonly taskId: string
  readonly handoffId: string
}

/** A task with one message about `subjects`, and one segment of each. */
async function tell(subjects: readonly string[]): Promise<Person> {
  const taskId = randomUUID()
  const handoffId = randomUUID()
  const [subject = ''] = subjects
  const owner = subjects.length > 1 ? { subject: null, subjects: [...subjects] } : { subject }
  const segments = [
    { kind: 'message' as const, ...owner, text: `about ${subjects.join(' and ')}` },
    ...subjects.map((one) => ({ kind: 'personal' as const, subject: one, text: `of ${one}` })),
  ]
  await auditor.client.append([entryOf({ taskId, handoffId, segments })])
  return { subject, taskId, handoffId }
}

const person = (): string => `person-${randomUUID()}`

async function plan({ subject, taskId, handoffId }: Person): Promise<string> {
  const id = randomUUID()
  const body = { id, subject, basis: 'GDPR_ART_17_1', requestedBy: 'ann' }
  const answer = await auditor.erase('/v1/erasures', {
    ...body,
    handoffIds: [handoffId],
    taskIds: [taskId],
  })
  expect(answer.status).toBe(200)
  return id
}

const confirm = (id: string, { subject, taskId, handoffId }: Person, confirmedBy = 'bob') =>
  auditor.erase(`/v1/erasures/${id}/confirm`, {
    subject,
    confirmedBy,
    handoffIds: [handoffId],
    taskIds: [taskId],
  })

const complete = (id: string, more: object = {}) =>
  auditor.erase(`/v1/erasures/${id}/complete`, { stores: [], ...more })

interface Listed {
  readonly id: string
  readonly state: string
  readonly handoffIds: readonly string[]
  readonly proven: boolean
}

/** All pages that a query leads to; each says how many there are. */
async function pagesOf(query: string): Promise<readonly Listed[]> {
  const found: Listed[] = []
  const totals = new Set<number>()
  let cursor: string | null = null
  do {
    const next = cursor === null ? '' : `&cursor=${cursor}`
    const page = (await (await auditor.erase(`/v1/erasures?${query}${next}`)).json()) as {
      erasures: readonly Listed[]
      nextCursor: string | null
      total: number
      totalIsExact: boolean
    }
    found.push(...page.erasures)
    cursor = page.nextCursor
    totals.add(page.totalIsExact ? page.total : Infinity)
  } while (cursor !== null)
  expect([...totals]).toEqual([found.length])
  return found
}

interface Storage {
  readonly database: string
  readonly tables: number
  readonly tableBytes: number
  readonly walPosition: string
  readonly walKeptBytes: number
}

const STORAGE_OF_ANOTHER = {
  database: 'baton',
  measuredAt: '2026-11-22T15:00:00.000Z',
  tables: 14,
  tableBytes: 1_000_000,
  deadRows: 12,
  walKeptBytes: 1_073_741_824,
  walArchived: true,
  replicas: 1,
}

/** Where the log's server writes now. */
async function positions(): Promise<[{ position: string }]> {
  const { rows } = await fixture.superuser.query<{ position: string }>({
    text: 'select pg_current_wal_insert_lsn()::text as position',
  })
  return rows as [{ position: string }]
}

interface Receipt {
  readonly stores: readonly { name: string; before: number; after: number }[]
  readonly segments: Readonly<Record<string, number>>
  readonly records: readonly object[]
  readonly signature: string
}

async function erase(who: Person): Promise<Receipt> {
  const id = await plan(who)
  expect((await confirm(id, who)).status).toBe(200)
  const answer = await complete(id)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Receipt
}

const verify = () =>
  auditor.read<{ ok: boolean; findings: readonly { rule: string; seq: number }[] }>('/v1/verify')

describe('an erasure', () => {
  test('E26 takes the segments and keys of one person, leaves the others’, and verifies', async () => {
    const anna = person()
    const ben = person()
    const both = await tell([anna, ben])
    const receipt = await erase(both)
    expect(receipt.segments).toEqual({ present: 1, erased: 2, missing: 0, mismatch: 0 })
    expect(receipt.stores).toContainEqual(
      expect.objectContaining({ name: 'subject keys', before: 2, after: 0 }),
    )
    expect(receipt.stores.every((store) => store.after === 0)).toBe(true)
    expect(receipt.records).toHaveLength(4)
    expect(await verify()).toMatchObject(ALONE)
    await erase({ ...both, subject: ben })
    expect(await verify()).toMatchObject(ALONE)
    const metrics = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
    expect(metrics).toMatch(/^baton_audit_erasures_total\{outcome="completed"\} 2$/m)
  })

  test('counts as failed where the vault does not answer a confirmation, which may be said again', async () => {
    const failed = async () => {
      const metrics = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
      return Number(/^baton_audit_erasures_total\{outcome="failed"\} (\d+)$/m.exec(metrics)?.[1])
    }
    const who = await tell([person()])
    const id = await plan(who)
    const before = await failed()
    const rename = (from: string, to: string) =>
      fixture.vaultSuperuser.query({ text: `alter table vault.${from} rename to ${to}` })
    await rename('subject_key', 'subject_key_away')
    try {
      expect((await confirm(id, who)).status).toBeGreaterThanOrEqual(500)
    } finally {
      await rename('subject_key_away', 'subject_key')
    }
    expect(await failed()).toBe(before + 1)
    expect((await confirm(id, who)).status).toBe(200)
    expect((await complete(id)).status).toBe(200)
    expect(await failed()).toBe(before + 1)
  })

  test('says what the files under the databases can still hold, as their servers answer', async () => {
    const who = await tell([person()])
    const id = await plan(who)
    expect((await confirm(id, who)).status).toBe(200)
    const [{ position }] = await positions()
    const operational = { ...STORAGE_OF_ANOTHER, walPosition: '0/DEADBEEF' }
    const answer = await complete(id, { storage: [operational], backupDays: 30 })
    const receipt = (await answer.json()) as Receipt & { backupDays: number; storage: Storage[] }
    expect(receipt.backupDays).toBe(30)
    const [given, log, vault] = receipt.storage
    expect(given).toEqual(operational)
    expect(log?.database).toMatch(/audit/)
    expect(vault?.database).toMatch(/vault/)
    const { rows } = await fixture.superuser.query<{ partitions: number }>({
      text: `select count(*)::integer as partitions from pg_inherits where inhparent = 'audit.payload'::regclass`,
    })
    expect(log).toMatchObject({ tables: (rows[0]?.partitions ?? 0) + 1, walArchived: false })
    expect(vault).toMatchObject({ tables: 3, replicas: 0 })
    for (const left of [log, vault]) {
      expect(left?.tableBytes).toBeGreaterThan(0)
      expect(left?.walKeptBytes).toBeGreaterThan(2 ** 20)
      // Behind the erasure: everything that was written before it is before the position.
      const { rows: compared } = await fixture.superuser.query<{ behind: boolean }>({
        text: 'select $1::pg_lsn >= $2::pg_lsn as behind',
        values: [left?.walPosition, position],
      })
      expect(compared).toEqual([{ behind: true }])
    }
  })

  test('takes no measurement that has another form', async () => {
    const id = randomUUID()
    for (const wrong of [{ storage: [{ database: 'baton' }] }, { backupDays: 'ever' }]) {
      expect((await complete(id, wrong)).status).toBe(400)
    }
  })

  test('gives whoever is told of afterwards a new key, in every auditor', async () => {
    const other = await fixture.startAuditor()
    const subject = person()
    const before = await tell([subject])
    const entry = entryOf({ segments: [{ kind: 'personal', subject, text: 'first' }] })
    await other.client.append([entry])
    await erase(before)
    const again = entryOf({ segments: [{ kind: 'personal', subject, text: 'second' }] })
    await other.client.append([again])
    const found = await auditor.erase('/v1/subjects/search', { subject })
    const { records } = (await found.json()) as { records: { handoffId: string }[] }
    expect(records.map((record) => record.handoffId)).toEqual([again.handoffId])
    expect(await verify()).toMatchObject(ALONE)
  })

  test('needs another person, the person it was planned for, and no legal hold', async () => {
    const who = await tell([person()])
    const id = await plan(who)
    const own = await problemOf(await confirm(id, who, 'ann'))
    expect(own).toMatchObject({ status: 403, code: 'BATON_ERASURE_OWN' })
    const other = await problemOf(await confirm(id, { ...who, subject: person() }))
    expect(other).toMatchObject({ status: 409, code: 'BATON_ERASURE_OTHER_SUBJECT' })
    expect(await problemOf(await confirm(randomUUID(), who))).toMatchObject({
      code: 'BATON_ERASURE_UNKNOWN',
    })
    await fixture.superuser.query({
      text: 'insert into audit.legal_hold (task_id, chain, seq, held_at) values ($1, 0, 0, now())',
      values: [who.taskId],
    })
    expect(await problemOf(await confirm(id, who))).toMatchObject({
      code: 'BATON_ERASURE_DEFERRED',
    })
    const held = await auditor.erase('/v1/erasures', {
      id: randomUUID(),
      subject: who.subject,
      basis: 'GDPR_ART_17_1',
      requestedBy: 'ann',
      handoffIds: [],
      taskIds: [],
    })
    expect(await held.json()).toMatchObject({ state: 'DEFERRED', heldTaskIds: [who.taskId] })
    await fixture.superuser.query({ text: 'delete from audit.legal_hold' })
  })

  test('is refused for a held task whose hold was deleted from the database, until it is lifted', async () => {
    const holding = await fixture.startAuditor({
      BATON_AUDIT_HOLD_TOKEN: 'hold-token-af1d8213f4a22b0f9803fe',
    })
    const hold = async (taskId: string, held: boolean) => {
      const answer = await fetchSigned(`${holding.url}/v1/holds/${taskId}`, {
        method: 'PUT',
        headers: {
          authorization: 'Bearer hold-token-af1d8213f4a22b0f9803fe',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ held, actor: 'counsel' }),
      })
      expect(answer.status).toBe(200)
    }
    const who = await tell([person()])
    const id = await plan(who)
    await hold(who.taskId, true)
    const row = await fixture.superuser.query<{ held_at: Date; chain: number; seq: number }>({
      text: 'delete from audit.legal_hold where task_id = $1 returning chain, seq, held_at',
      values: [who.taskId],
    })
    expect(await problemOf(await confirm(id, who))).toMatchObject({
      code: 'BATON_ERASURE_DEFERRED',
    })
    const [deleted] = row.rows
    await fixture.superuser.query({
      text: 'insert into audit.legal_hold (task_id, chain, seq, held_at) values ($1, $2, $3, $4)',
      values: [who.taskId, deleted?.chain, deleted?.seq, deleted?.held_at],
    })
    await hold(who.taskId, false)
    expect((await confirm(id, who)).status).toBe(200)
  })

  test('is refused to every other token and to every form that is not asked for', async () => {
    const refused = await fetch(`${auditor.url}/v1/erasures`, {
      headers: { authorization: 'Bearer read-token-ecae13117d6f0584c25a9d' },
    })
    expect(refused.status).toBe(403)
    expect(await problemOf(await auditor.erase('/v1/erasures', { subject: 'x' }))).toMatchObject({
      status: 400,
      code: 'BATON_REQUEST_INVALID',
    })
  })

  test('names nobody in records, logs and tables', async () => {
    const who = await tell([person()])
    await erase(who)
    const { rows } = await fixture.superuser.query<{ text: string }>({
      text: `select convert_from(body, 'UTF8') as text from audit.record
        union all select to_jsonb(e)::text from audit.erasure e`,
    })
    const said = rows.map((row) => row.text).join('\n') + auditor.process.output()
    expect(said).not.toContain(who.subject)
    const { rows: kept } = await fixture.vaultSuperuser.query({ text: 'select from vault.erasure' })
    expect(kept).toHaveLength(1)
  })

  test('is done again after a restore of the vault or of payloads, before traffic is taken', async () => {
    const who = await tell([person()])
    const keys = await fixture.vaultSuperuser.query({ text: 'select * from vault.subject_key' })
    await erase(who)
    const had = keys.rows.length
    for (const row of keys.rows as Record<string, unknown>[]) {
      await fixture.vaultSuperuser.query({
        text: `insert into vault.subject_key (subject_ref, lookup, wrapped_key, wrapping_key_id)
          values ($1, $2, $3, $4) on conflict do nothing`,
        values: [row['subject_ref'], row['lookup'], row['wrapped_key'], row['wrapping_key_id']],
      })
    }
    const again = await fixture.startAuditor()
    expect(again.process.output()).toContain('erasure.replayed')
    const left = await fixture.vaultSuperuser.query({ text: 'select from vault.subject_key' })
    expect(left.rows.length).toBeLessThan(had)
    expect(await verify()).toMatchObject(ALONE)
  })
})

/** As a superuser who stops at nothing. */
async function tamper(...statements: readonly string[]): Promise<void> {
  for (const statement of ['set session_replication_role = replica', ...statements]) {
    await fixture.superuser.query({ text: statement })
  }
}

const DELETE = (handoffId: string, kind = 'payload') =>
  `alter table audit.${kind} disable trigger refuse_change;
   delete from audit.${kind} p using audit.record r where r.chain = p.chain and r.seq = p.seq
     and r.handoff_id = '${handoffId}' and p.segment = 1;
   alter table audit.${kind} enable always trigger refuse_change`

describe('nobody is erased on the word of a table', () => {
  const sql = (text: string) => fixture.superuser.query<{ count: number }>({ text })
  const keysOf = async () =>
    (await fixture.vaultSuperuser.query({ text: 'select from vault.subject_key' })).rows.length

  test('a plan that somebody confirmed by SQL is not carried out, at a start neither', async () => {
    const id = await plan(await tell([person()]))
    await sql(
      `update audit.erasure set state = 'CONFIRMED', confirmed_by = 'bob' where id = '${id}'`,
    )
    const before = await keysOf()
    const again = await fixture.startAuditor()
    expect(again.process.output()).toContain('erasure.unproven')
    expect(await keysOf()).toBe(before)
    const { rows } = await sql(`select state from audit.erasure where id = '${id}'`)
    expect(rows).toEqual([{ state: 'CONFIRMED' }])
    await sql(`update audit.erasure set state = 'PLANNED', confirmed_by = null where id = '${id}'`)
  })

  test('a plan is not confirmed by who asked for it under another name', async () => {
    const who = await tell([person()])
    const id = await plan(who)
    await sql(`update audit.erasure set requested_by = 'mallory' where id = '${id}'`)
    expect(await problemOf(await confirm(id, who, 'ann'))).toMatchObject({
      status: 409,
      code: 'BATON_ERASURE_UNPROVEN',
    })
    const found = await (await auditor.erase(`/v1/erasures/${id}`)).json()
    expect(found).toMatchObject({ requestedBy: 'mallory', proven: false })
    await sql(`update audit.erasure set requested_by = 'ann' where id = '${id}'`)
    expect(await (await auditor.erase(`/v1/erasures/${id}`)).json()).toMatchObject({ proven: true })
    expect((await confirm(id, who)).status).toBe(200)
  })

  test('they are listed page by page, the newest first, by state and tenant, with how many there are', async () => {
    const ids: string[] = []
    for (const _ of [1, 2]) {
      const who = await tell([person()])
      ids.push(await plan(who))
    }
    const planned = await pagesOf('state=PLANNED&limit=1')
    expect(planned.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
    expect(planned.findIndex(({ id }) => id === ids[1])).toBeLessThan(
      planned.findIndex(({ id }) => id === ids[0]),
    )
    expect(new Set(planned.map(({ state }) => state))).toEqual(new Set(['PLANNED']))
    expect(await pagesOf('tenant=nobody')).toEqual([])
    expect((await pagesOf('tenant=default&limit=1000')).length).toBe((await pagesOf('')).length)
    for (const [query, parameter] of [
      ['cursor=x', 'cursor'],
      ['limit=0', 'limit'],
      ['state=NEW', 'state'],
    ])
      expect(await problemOf(await auditor.erase(`/v1/erasures?${query}`))).toMatchObject({
        status: 400,
        code: 'BATON_PARAMETER_INVALID',
        parameter,
      })
  })

  test('handoffs that were added to an erasure are nobody’s to erase again', async () => {
    const who = await tell([person()])
    await erase(who)
    const listed = async () =>
      (await pagesOf('limit=1000')).find(({ handoffIds }) => handoffIds.includes(who.handoffId))
    expect(await listed()).toMatchObject({ proven: true })
    const change = (with_: string) =>
      sql(
        `update audit.erasure set handoff_ids = ${with_} where '${who.handoffId}' = any(handoff_ids)`,
      )
    await change('handoff_ids || gen_random_uuid()')
    expect(await listed()).toMatchObject({ proven: false })
    expect((await verify()).findings).toMatchObject([{ rule: 'STATE' }])
    await change('handoff_ids[1:1]')
    expect(await verify()).toMatchObject(ALONE)
  })

  test('a subject that was written among the erased keeps its key', async () => {
    await erase(await tell([person()]))
    const before = await keysOf()
    await sql(`insert into audit.erased_subject (subject_ref, erasure_id)
      select p.subject_ref, e.id from audit.payload p, audit.erasure e where e.state = 'COMPLETED' limit 1`)
    const again = await fixture.startAuditor()
    expect(again.process.output()).toContain('erasure.unproven')
    expect(await keysOf()).toBe(before)
    await sql(`alter table audit.erased_subject disable trigger refuse_change;
      delete from audit.erased_subject s where exists (
        select from audit.payload p where p.subject_ref = s.subject_ref);
      alter table audit.erased_subject enable always trigger refuse_change`)
  })
})

describe('what an erasure does not cover', () => {
  test('T24: a payload or a key that is gone without an erasure is missing', async () => {
    const before = await verify()
    expect(before).toMatchObject(ALONE)
    const who = await tell([person()])
    await tamper(DELETE(who.handoffId))
    expect((await verify()).findings).toMatchObject([{ rule: 'PAYLOAD_MISSING' }])
    await fixture.close()
    fixture = await createAuditFixture()
    auditor = await fixture.startAuditor()
    const other = await tell([person()])
    await fixture.vaultSuperuser.query({ text: 'delete from vault.subject_key' })
    const { findings } = await verify()
    expect(new Set(findings.map(({ rule }) => rule))).toEqual(new Set(['PAYLOAD_KEY']))
    expect(other.subject).not.toBe('')
  })

  test('T26: a list that was extended, and a forged erasure, cover nothing', async () => {
    await fixture.close()
    fixture = await createAuditFixture(1)
    auditor = await fixture.startAuditor()
    const kept = await tell([person()])
    const erased = await tell([person()])
    await erase(erased)
    expect(await verify()).toMatchObject(ALONE)
    const ADD = `insert into audit.erased_segment (chain, seq, segment, subject_ref)
      select p.chain, p.seq, p.segment, p.subject_ref from audit.payload p
      join audit.record r on r.chain = p.chain and r.seq = p.seq
      where r.handoff_id = '${kept.handoffId}' and p.segment = 1`
    const FORGE = `insert into audit.erased_subject (subject_ref, erasure_id)
      select p.subject_ref, (select id from audit.erasure limit 1) from audit.payload p
      join audit.record r on r.chain = p.chain and r.seq = p.seq
      where r.handoff_id = '${kept.handoffId}' and p.segment = 1`
    await tamper(FORGE, ADD, DELETE(kept.handoffId))
    expect((await verify()).findings).toMatchObject([
      { rule: 'PAYLOAD_MISSING', seq: 0 },
      { rule: 'STATE', seq: 3 },
    ])
    // A record that says so, in no signed batch.
    await tamper(
      `insert into audit.record (chain, seq, recorded_at, task_id, handoff_id, event, body, record_hash)
       select chain, seq + 1, recorded_at + interval '1 us', task_id, handoff_id, event, body, record_hash
       from audit.record where event = 21 order by seq desc limit 1`,
    )
    const rules = (await verify()).findings.map(({ rule }) => rule)
    expect(rules).toContain('PAYLOAD_MISSING')
    expect(rules).toContain('BATCH_COVER')
  })
})
