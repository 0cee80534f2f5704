// Tables that follow from the records are compared with them: a superuser who changes one is found, and so is which.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { fetchSigned } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

let fixture: AuditFixture
let auditor: RunningAuditor
let sealing: Sealing

const TABLES = [
  'erasure',
  'erased_subject',
  'erased_segment',
  'legal_hold',
  'idem',
  'payload',
  'chain_checkpoint',
  'archive',
]
const sql = (text: string) => fixture.superuser.query<{ id: string }>({ text })

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_HOLD_TOKEN: 'hold-token-af1d8213f4a22b0f9803fe',
  })
  const sealer = await sealing.startSealer()
  await hold((await tell()).taskId)
  await sealing.sealed()
  await erase(await tell())
  await hold((await tell()).taskId)
  await sealing.sealed()
  await sealer.stop()
  await sql('create schema kept')
  for (const table of TABLES) await sql(`create table kept.${table} as table audit.${table}`)
  await fixture.guards.lift(TABLES)
})
afterEach(async () => {
  for (const table of TABLES) {
    await sql(`delete from audit.${table}; insert into audit.${table} table kept.${table}`)
  }
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

const json = { 'content-type': 'application/json' }

async function hold(taskId: string): Promise<void> {
  const answer = await fetchSigned(`${auditor.url}/v1/holds/${taskId}`, {
    method: 'PUT',
    headers: { authorization: 'Bearer hold-token-af1d8213f4a22b0f9803fe', ...json },
    body: JSON.stringify({ held: true, actor: 'counsel' }),
  })
  expect(answer.status).toBe(200)
}

interface Person {
  readonly subject: string
  readonly taskId: string
  readonly handoffId: string
}

async function tell(): Promise<Person> {
  const person = { subject: randomUUID(), taskId: randomUUID(), handoffId: randomUUID() }
  const { subject, ...ids } = person
  const segments = [{ kind: 'personal' as const, subject, text: `of ${subject}` }]
  await auditor.client.append([entryOf({ ...ids, segments })])
  return person
}

async function erase({ subject, taskId, handoffId }: Person): Promise<void> {
  const id = randomUUID()
  const lists = { handoffIds: [handoffId], taskIds: [taskId] }
  const ask = async (path: string, body: object) => {
    const answer = await auditor.erase(path, body)
    expect(await answer.json()).toBeDefined()
    expect(answer.status).toBe(200)
  }
  await ask('/v1/erasures', { id, subject, basis: 'GDPR_ART_17_1', requestedBy: 'ann', ...lists })
  await ask(`/v1/erasures/${id}/confirm`, { subject, confirmedBy: 'bob', ...lists })
  await ask(`/v1/erasures/${id}/complete`, { stores: [] })
}

interface Report {
  readonly findings: readonly { readonly rule: string; readonly message: string }[]
}

const findings = async () =>
  (await fixture.guards.inPlace(() => auditor.read<Report>('/v1/verify'))).findings.map(
    ({ rule, message }) => `${rule} ${message}`,
  )

test('an untouched log has no finding', async () => {
  expect(await findings()).toEqual([])
})

const FORGED = `'00000000-0000-4000-8000-000000000001'`

test.each([
  [
    'a hold deleted',
    'delete from audit.legal_hold',
    /^STATE task .* is held by this record, and not/,
  ],
  [
    'a hold that nobody set',
    `insert into audit.legal_hold values (${FORGED}, 0, 0, now())`,
    /^STATE the table of holds names task 00000000-.*, which no record holds$/,
  ],
  [
    'a hold that names another record',
    'update audit.legal_hold set seq = seq + 1',
    /^STATE the table of holds says of task .* that another record holds it$/,
  ],
  [
    'somebody else asked for an erasure',
    `update audit.erasure set requested_by = 'mallory'`,
    /^STATE erasure .*: the table names another person who asked for it than its record$/,
  ],
  [
    'nobody confirmed an erasure',
    `update audit.erasure set confirmed_by = null`,
    /^STATE erasure .*: the table names another person who confirmed it/,
  ],
  [
    'another legal ground',
    `update audit.erasure set basis = 'OTHER'`,
    /^STATE erasure .*: the table names another legal ground/,
  ],
  [
    'an erasure set back',
    `update audit.erasure set state = 'PLANNED'`,
    /^STATE erasure .*: the table says that it has come to another state/,
  ],
  [
    'an erasure removed',
    'delete from audit.erasure',
    /^STATE erasure .*: the table of erasures does not have it$/,
  ],
  [
    'an erasure that never was',
    `insert into audit.erasure (id, state, basis, requested_by, confirmed_by, handoff_ids, task_ids)
       values (${FORGED}, 'COMPLETED', 'GDPR_ART_17_1', 'ann', 'bob', '{}', '{}')`,
    /^STATE erasure 00000000-.* is said to be carried out, and no record says so$/,
  ],
  [
    'a list of erased segments extended',
    `insert into audit.erased_segment
       select chain, seq + 1, segment, subject_ref from audit.erased_segment limit 1`,
    /^STATE erasure .*: the list of its segments is not the one that was recorded$/,
  ],
  [
    'a subject added to those that were erased',
    `insert into audit.erased_subject (subject_ref, erasure_id)
       select ${FORGED}, id from audit.erasure limit 1`,
    /^STATE erasure .*: a subject is listed as erased by it that no record names$/,
  ],
  [
    'a subject taken from those that were erased',
    'delete from audit.erased_subject',
    /^STATE erasure .*: a subject that it erased is not listed any more$/,
  ],
  [
    'the digest of every request',
    `update audit.idem set request_hash = overlay(request_hash placing '\\xff00ff00' from 1)`,
    /^RECORD_INDEX what the idempotency index remembers of the request was changed$/,
  ],
  [
    'digests without a tag behind some that have one',
    `update audit.idem set request_hash = substr(request_hash, 1, 32) where seq > 0`,
    /^RECORD_INDEX what the idempotency index remembers of the request was changed$/,
  ],
  [
    'a row of the index for a record that is not there',
    `insert into audit.idem select ${FORGED}, request_hash, chain, seq + 100, recorded_at, record_hash,
       ${FORGED}, 0 from audit.idem limit 1`,
    /^RECORD_INDEX the idempotency index has rows of no record$/,
  ],
  [
    'payloads under another time',
    `update audit.payload set recorded_at = recorded_at + interval '1 us'`,
    /^PAYLOAD_MISMATCH segment 0: it stands under another time than its record$/,
  ],
  [
    'signed heads deleted',
    'delete from audit.chain_checkpoint',
    /^SEAL_COPY the signed checkpoint of the chain is gone$/,
  ],
  [
    'signed heads made unreadable',
    `update audit.chain_checkpoint set note = 'nothing'`,
    /^SEAL_COPY the checkpoint of the chain is not the sealer’s$/,
  ],
  [
    'marks of the cold store beyond what is sealed',
    `insert into audit.archive (log, size, tail) select distinct chain, 512, 600 from audit.idem`,
    /^STATE 600 records are marked as archived, and only \d+ are sealed$/,
  ],
])('%s is found', async (_, statement, expected) => {
  await sql(statement)
  expect(await findings()).toContainEqual(expect.stringMatching(expected))
})
