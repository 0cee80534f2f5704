// What a superuser changes in the hot database is found and located by verifying the stored bytes.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { VerifyReport } from '@baton/audit'
import { recordHash, shardOf, verdictOf } from '@baton/ledger'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

let fixture: AuditFixture
let auditor: RunningAuditor

const TABLES = ['record', 'payload', 'idem', 'batch_sig', 'head']

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  auditor = await fixture.startAuditor()
  const tasks = [0, 1].flatMap((shard) => Array.from({ length: 3 }, () => taskOfShard(shard)))
  for (let round = 0; round < 4; round += 1) {
    await auditor.client.append(tasks.map((taskId) => entryOf({ taskId })))
  }
  // A superuser can take every guard away; that is the attacker of these tests.
  await fixture.guards.lift(TABLES)
  await sql('create schema untouched')
  for (const table of TABLES) await sql(`create table untouched.${table} as table audit.${table}`)
})
afterEach(async () => {
  for (const table of TABLES) {
    await sql(`delete from audit.${table}; insert into audit.${table} table untouched.${table}`)
  }
})
afterAll(() => fixture?.close())

// Each chain gets the same number of records, so that the edited ones have neighbours.
function taskOfShard(shard: number): string {
  for (;;) {
    const taskId = randomUUID()
    if (shardOf(taskId, 2) === shard) return taskId
  }
}

const sql = (text: string, values?: unknown[]) =>
  fixture.superuser.query<{ body: Buffer }>(values === undefined ? { text } : { text, values })

async function rules(): Promise<string[]> {
  const report = await fixture.guards.inPlace(() => auditor.read<VerifyReport>('/v1/verify'))
  // Nobody seals here, so nothing outside the database agrees either.
  const found = verdictOf(report.findings.map(({ rule }) => rule))
  expect(report).toMatchObject({
    ok: false,
    verdict: found === 'verified' ? 'incomplete' : found,
    compared: [],
  })
  return report.findings.map(({ origin, seq, rule }) => `${rule}@${origin.at(-1)}:${seq}`)
}

const editedBody = async (seq: number): Promise<Buffer> => {
  const { rows } = await sql('select body from audit.record where chain = 0 and seq = $1', [seq])
  return Buffer.from(
    (rows[0]?.body.toString() ?? '').replace('"spentMicroUSD":80000', '"spentMicroUSD":80001'),
  )
}

test('an untouched log has no finding', async () => {
  expect(await rules()).toEqual([])
})

describe('E13 an edit of a record', () => {
  test('body alone', async () => {
    await sql('update audit.record set body = $1 where chain = 0 and seq = 3', [
      await editedBody(3),
    ])
    const found = await rules()
    expect(found[0]).toBe('RECORD_HASH@0:3')
    expect(found).toContain('RECORD_COLUMNS@0:3')
  })

  test('hash alone', async () => {
    await sql('update audit.record set record_hash = sha256(body) where chain = 0 and seq = 3')
    expect(await rules()).toEqual(['RECORD_HASH@0:3'])
  })

  test('body, hash, column and index together', async () => {
    const body = await editedBody(3)
    const hash = recordHash(body)
    await sql(
      'update audit.record set body = $1, record_hash = $2, spent_micro = 80001 where chain = 0 and seq = 3',
      [body, hash],
    )
    await sql('update audit.idem set record_hash = $1 where chain = 0 and seq = 3', [hash])
    expect(await rules()).toContain('RECORD_LINK@0:4')
  })

  test.each([
    ['task_id', `task_id = gen_random_uuid()`, 'taskId'],
    ['handoff_id', `handoff_id = gen_random_uuid()`, 'handoffId'],
    ['event', 'event = 2', 'eventNumber'],
    ['spent_micro', 'spent_micro = null', 'spentMicroUSD'],
    ['recorded_at', `recorded_at = recorded_at + interval '1 microsecond'`, 'recordedAtMicros'],
  ])('the column %s alone', async (_, change, name) => {
    await sql(`update audit.record set ${change} where chain = 0 and seq = 3`)
    const { findings } = await auditor.read<VerifyReport>('/v1/verify')
    expect(findings.map(({ rule, seq }) => `${rule}@${seq}`)).toContain('RECORD_COLUMNS@3')
    expect(findings.find(({ rule }) => rule === 'RECORD_COLUMNS')?.message).toContain(name)
  })
})

describe('E13 a missing, repeated or moved record', () => {
  test('deleted in the middle', async () => {
    await sql('delete from audit.record where chain = 0 and seq between 3 and 4')
    expect((await rules())[0]).toBe('RECORD_SEQ@0:3')
  })

  test('deleted at the start', async () => {
    await sql('delete from audit.record where chain = 0 and seq = 0')
    expect((await rules())[0]).toBe('RECORD_SEQ@0:0')
  })

  test('deleted at the end', async () => {
    await sql(
      'delete from audit.record where chain = 0 and seq = (select size - 1 from audit.head where chain = 0)',
    )
    expect((await rules()).map((rule) => rule.split('@')[0])).toEqual(['HEAD', 'BATCH_COVER'])
  })

  test('standing twice, in another partition', async () => {
    await sql(`insert into audit.record select chain, seq, recorded_at + interval '1 day', task_id,
      handoff_id, event, spent_micro, body, record_hash from audit.record where chain = 0 and seq = 3`)
    expect(await rules()).toContain('RECORD_SEQ@0:3')
  })

  test('bodies swapped', async () => {
    await sql(`update audit.record r set body = o.body, record_hash = o.record_hash
      from audit.record o where r.chain = 0 and o.chain = 0 and r.seq in (2, 3) and o.seq = 5 - r.seq`)
    const found = await rules()
    expect(found).toContain('RECORD_LINK@0:2')
    expect(found).toContain('RECORD_COLUMNS@0:2')
  })

  test('moved from one chain to another', async () => {
    await sql(`update audit.record r set body = o.body, record_hash = o.record_hash
      from audit.record o where r.chain = 0 and o.chain = 1 and r.seq = 2 and o.seq = 2`)
    expect(await rules()).toContain('RECORD_ORIGIN@0:2')
  })

  test('a whole chain with its head', async () => {
    await sql('delete from audit.record where chain = 1; delete from audit.head where chain = 1')
    expect(await rules()).toEqual(['CHAIN_MISSING@1:null', 'RECORD_INDEX@1:null'])
  })

  test('a head moved back with its last record', async () => {
    await sql(`delete from audit.record r using audit.head h where r.chain = 0 and h.chain = 0 and r.seq = h.size - 1;
      update audit.head h set size = size - 1,
        last_hash = (select record_hash from audit.record r where r.chain = 0 order by seq desc limit 1)
      where chain = 0`)
    const found = (await rules()).map((rule) => rule.split('@')[0])
    expect(found).toEqual(['BATCH_COVER', 'RECORD_INDEX'])
  })
})

describe('rows that belong to a record', () => {
  test('a payload deleted, edited or moved', async () => {
    await sql('delete from audit.payload where chain = 0 and seq = 1')
    await sql(`update audit.payload set ciphertext = set_byte(ciphertext, 40, 255 - get_byte(ciphertext, 40))
      where chain = 0 and seq = 2`)
    await sql('update audit.payload set segment = 1 where chain = 0 and seq = 3')
    expect(await rules()).toEqual([
      'PAYLOAD_MISSING@0:1',
      'PAYLOAD_MISMATCH@0:2',
      'PAYLOAD_MISSING@0:3',
      'PAYLOAD_UNEXPECTED@0:3',
    ])
  })

  test('a signature edited or taken away', async () => {
    const { rows } = await fixture.superuser.query<{ last_seq: number }>({
      text: 'select last_seq from audit.batch_sig where chain = 0 order by last_seq',
    })
    const [first, second] = rows.map((row) => row.last_seq)
    await sql(`update audit.batch_sig set signature = set_byte(signature, 0, 255 - get_byte(signature, 0))
      where chain = 0 and last_seq = ${first}`)
    await sql(`delete from audit.batch_sig where chain = 0 and last_seq = ${second}`)
    const found = await rules()
    expect(found).toContain(`BATCH_SIGNATURE@0:${first}`)
    expect(found.filter((rule) => rule.startsWith('BATCH_COVER')).length).toBeGreaterThan(0)
  })

  test('the idempotency index edited', async () => {
    await sql('update audit.idem set seq = seq + 1 where chain = 0 and seq = 2')
    expect(await rules()).toEqual(['RECORD_INDEX@0:2'])
  })

  test('the key of a subject destroyed', async () => {
    const keep = 'create table vault.kept as table vault.subject_key; delete from vault.subject_key'
    await fixture.vaultSuperuser.query({ text: keep })
    const found = await rules()
    expect(found.every((rule) => rule.startsWith('PAYLOAD_KEY'))).toBe(true)
    expect(found).toHaveLength(24)
    await fixture.vaultSuperuser.query({ text: 'insert into vault.subject_key table vault.kept' })
  })
})

test('a finding counts in the metric', async () => {
  await sql('delete from audit.payload where chain = 0 and seq = 1')
  await rules()
  const metrics = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
  expect(Number(/^baton_audit_tamper_detected_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0)
  expect(metrics).toMatch(/^baton_audit_tampered 1$/m)
})
