// What a bare chain misses is found by the seals: truncation, rewriting, a chain removed, a restored backup.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readCoveredSizes, readTrace } from '@baton/audit'
import { readBatchPublicKey } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'
import { rewriteSuffix, truncateChain } from './audit-seals-rewrite.ts'

let fixture: AuditFixture
let auditor: RunningAuditor
let sealing: Sealing

const tasks = [0, 0, 1, 1].map((shard) => taskOfShard(shard, 2))
const LOG = ['record', 'payload', 'idem', 'batch_sig', 'head']
const TABLES = [...LOG, 'seal', 'chain_checkpoint', 'witnessed', 'task_map']

const sql = (text: string) => fixture.superuser.query<{ size: number }>({ text })
const keep = async (schema: string) => {
  await sql(`create schema ${schema}`)
  for (const table of TABLES) await sql(`create table ${schema}.${table} as table audit.${table}`)
}
const restore = async (schema: string, tables = TABLES) => {
  for (const table of tables) {
    await sql(`delete from audit.${table}; insert into audit.${table} table ${schema}.${table}`)
  }
}

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
  })
  const sealer = await sealing.startSealer()
  // One record of each chain at a time, so that every record is a batch and most are a seal.
  const round = async () => {
    for (const taskId of tasks) await auditor.client.append([entryOf({ taskId })])
    await sealing.sealed()
  }
  await round()
  await round()
  await fixture.guards.lift(TABLES)
  await keep('yesterday')
  await round()
  await round()
  await sealer.stop()
  await keep('untouched')
})
afterEach(() => restore('untouched'))
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

test('an untouched log has no finding, and every seal and record is covered', async () => {
  const report = await sealing.verify()
  expect(report.findings).toEqual([])
  expect(report.chains.map(({ records, sealed }) => sealed - records)).toEqual([0, 0])
  expect(report.seals?.entries).toBeGreaterThan(3)
  expect(report.seals?.witnessed).toBe(report.seals?.entries)
})

describe('valid in itself, and not what was sealed', () => {
  test('T10 T11 the last records cut off, head and all', async () => {
    await truncateChain(fixture, { chain: 0, count: 3 })
    expect(await sealing.rules()).toEqual(['SEAL_SIZE@0:5'])
  })

  test('T12 a suffix rewritten with fresh hashes and a stolen batch key', async () => {
    await rewriteSuffix(fixture, { chain: 1, from: 5 })
    const rules = await sealing.rules()
    expect(rules).toHaveLength(1)
    const seq = Number(/^SEAL_ROOT@1:(\d)$/.exec(rules[0] ?? '')?.[1])
    // Between the seal before the first changed record and that record itself.
    expect(seq).toBeGreaterThanOrEqual(2)
    expect(seq).toBeLessThanOrEqual(5)
  })

  test('T13 a chain rewritten from its first record', async () => {
    await rewriteSuffix(fixture, { chain: 0, from: 0 })
    expect(await sealing.rules()).toEqual(['SEAL_ROOT@0:0'])
  })

  test('T14 a whole chain removed, and the count of chains with it', async () => {
    for (const table of ['record', 'payload', 'idem', 'batch_sig', 'head', 'chain_checkpoint']) {
      await sql(`delete from audit.${table} where chain = 1`)
    }
    await sql('update audit.head set shards = 1')
    expect(await sealing.rules()).toEqual(['CHAIN_MISSING@1:null'])
  })

  test('T21 yesterday’s database restored, seals and all', async () => {
    await restore('yesterday')
    const { rows } = await sql('select count(*)::integer as size from audit.seal')
    expect(await sealing.rules()).toEqual([`SEAL_ANCHOR@s:${rows[0]?.size}`])
  })

  test('T21 yesterday’s records restored under today’s seals', async () => {
    await restore('yesterday', LOG)
    expect(await sealing.rules()).toEqual(['SEAL_SIZE@0:4', 'SEAL_SIZE@1:4'])
  })
})

describe('the copies of the seals', () => {
  test('T04 a checkpoint with one bit flipped', async () => {
    await sql(`update audit.seal set note = overlay(note placing
      case substr(note, length(note) - 20, 1) when 'A' then 'B' else 'A' end from length(note) - 20)
      where seq = (select max(seq) from audit.seal)`)
    expect((await sealing.rules()).map((rule) => rule.split('@')[0])).toEqual(['SEAL_SIGNATURE'])
  })

  test('T18 an old but authenticated seal served as the newest', async () => {
    await sql('delete from audit.seal where seq = (select max(seq) from audit.seal)')
    const { rows } = await sql('select max(seq) + 1 as size from audit.seal')
    expect(await sealing.rules()).toContain(`SEAL_ANCHOR@s:${rows[0]?.size}`)
  })

  test('an entry deleted, and one edited', async () => {
    await sql('delete from audit.seal where seq = 1')
    expect(await sealing.rules()).toContain('SEAL_LOG@s:1')
    await restore('untouched')
    await sql(`update audit.seal set body = convert_to(regexp_replace(convert_from(body, 'UTF8'),
      '"size":([0-9]+)', '"size":9\\1'), 'UTF8') where seq = 1`)
    const rules = await sealing.rules()
    expect(rules.length).toBeGreaterThan(0)
    expect(rules.every((rule) => rule.startsWith('SEAL_'))).toBe(true)
  })

  test('an entry added without the key, under the note of the one before it', async () => {
    await sql(`insert into audit.seal select seq + 1, sealed_at, convert_to(replace(
      convert_from(body, 'UTF8'), '"at":"2', '"at":"3'), 'UTF8'), note
      from audit.seal order by seq desc limit 1`)
    expect((await sealing.rules()).map((rule) => rule.split('@')[0])).toEqual(['SEAL_SIGNATURE'])
  })

  test('all of them gone', async () => {
    await sql('delete from audit.seal; delete from audit.chain_checkpoint')
    expect(await sealing.rules()).toContain('SEAL_ANCHOR@s:0')
  })
})

test('T05 T06 a record with a new hash is no end of a signed batch, sealed or not', async () => {
  await rewriteSuffix(fixture, { chain: 0, from: 7 })
  await sql(`update audit.batch_sig set signature = (select signature from untouched.batch_sig
    where chain = 0 and last_seq = 7) where chain = 0 and last_seq = 7`)
  await sql('delete from audit.seal; delete from audit.chain_checkpoint')
  expect(await sealing.rules()).toContain('BATCH_SIGNATURE@0:7')
})

describe('the trace of a task', () => {
  const sealKey = () => readBatchPublicKey(sealing.publicKey)
  const trace = async (shard: number) => {
    const covered = await readCoveredSizes(fixture.reader, sealKey())
    const taskId = tasks[shard * 2] ?? ''
    const { verified, findings, records } = await readTrace(fixture.reader, taskId, { covered })
    const labels = [...new Set(records.map(({ assurance }) => assurance))]
    return { verified, rules: findings.map(({ rule }) => rule), labels }
  }

  test('is proven under a head that was seen outside', async () => {
    expect(await trace(0)).toEqual({ verified: true, rules: [], labels: ['witnessed'] })
  })

  const ends = async (taskId: string) => {
    const covered = await readCoveredSizes(fixture.reader, sealKey())
    const { ends: proven, findings } = await readTrace(fixture.reader, taskId, { covered })
    const rules = findings.map(({ rule }) => rule)
    return { rules, ends: proven.map(({ proof, records }) => `${proof} ${records}`) }
  }
  const cutTask = (taskId = '', kept = 0) =>
    sql(`delete from audit.record r using audit.idem i
      where i.task_id = '${taskId}' and i.task_seq >= ${kept} and r.chain = i.chain and r.seq = i.seq;
      delete from audit.idem where task_id = '${taskId}' and task_seq >= ${kept}`)

  test('ends where the signed map of tasks says, and a task that never was is proven absent', async () => {
    expect(await ends(tasks[0] ?? '')).toEqual({ rules: [], ends: ['witnessed 4'] })
    expect(await ends(crypto.randomUUID())).toEqual({ rules: [], ends: ['witnessed 0'] })
    // The auditor looks at the seals once a second, and saw them being restored.
    const asked = () =>
      auditor.read<{ code: string; detail: string }>(`/v1/traces/${crypto.randomUUID()}`)
    await eventually(async () => (await asked()).code === 'BATON_TASK_UNKNOWN', {
      deadlineMs: 10_000,
      describe: 'that the task is unknown is proven',
    })
    expect((await asked()).detail).toMatch(/no record of this task until 2\d{3}-/)
  })

  test.each([3, 2, 1])(
    'cut to its first %i records, other records behind it, is not whole',
    async (kept) => {
      await cutTask(tasks[0], kept)
      expect(await ends(tasks[0] ?? '')).toMatchObject({
        rules: expect.arrayContaining(['TASK_END']),
        ends: [],
      })
      expect(await ends(tasks[1] ?? '')).toEqual({ rules: [], ends: ['witnessed 4'] })
    },
  )

  test('says how many records are missing where one stands twice', async () => {
    await sql(`update audit.record r set body = o.body, record_hash = o.record_hash
      from audit.idem i join audit.idem before on before.task_id = i.task_id and before.task_seq = 2
      join audit.record o on o.chain = before.chain and o.seq = before.seq
      where i.task_id = '${tasks[0]}' and i.task_seq = 3 and r.chain = i.chain and r.seq = i.seq`)
    const covered = await readCoveredSizes(fixture.reader, sealKey())
    const { findings } = await readTrace(fixture.reader, tasks[0] ?? '', { covered })
    const ofEnd = findings.filter(({ rule }) => rule === 'TASK_END')
    expect(ofEnd.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^1 of the 4 records .* is missing$/),
    ])
  })

  test('of a task that was removed as a whole is missing, not unknown', async () => {
    await cutTask(tasks[0])
    expect(await ends(tasks[0] ?? '')).toEqual({ rules: ['TASK_END'], ends: [] })
    const headers = { authorization: 'Bearer evidence-token-14e10d570047667f904261' }
    const asked = async () => {
      const response = await fetch(`${auditor.url}/v1/evidence/${tasks[0]}`, { headers })
      return (await response.json()) as { readonly code: string; readonly detail: string }
    }
    // The auditor looks once a second at what seals say by now.
    await eventually(async () => (await asked()).detail.includes('4 of the 4 records'), {
      deadlineMs: 10_000,
      describe: () => 'evidence of a removed task',
    })
    expect((await asked()).code).toBe('BATON_TASK_UNPROVEN')
  })

  test('says that its end cannot be proven where the stored map was altered or emptied', async () => {
    for (const attack of [
      'delete from audit.task_map',
      "update audit.task_map set node = node || decode(repeat('00', 52), 'hex')",
      'update audit.task_map t set node = o.node from (select prefix, min(seals) as seals from audit.task_map group by prefix) f join audit.task_map o using (prefix, seals) where o.prefix = t.prefix',
    ]) {
      await sql(attack)
      expect(await ends(tasks[0] ?? '')).toEqual({ rules: ['TASK_MAP'], ends: [] })
      expect(await sealing.rules()).toContain('TASK_MAP@s:null')
      await restore('untouched')
    }
  })

  test('whose whole history was forged with fresh hashes and a stolen batch key proves nothing', async () => {
    await rewriteSuffix(fixture, { chain: 0, from: 0 })
    expect(await trace(0)).toEqual({
      verified: false,
      rules: ['SEAL_ROOT', 'TASK_END'],
      labels: ['committed'],
    })
    expect(await trace(1)).toMatchObject({ verified: true, labels: ['witnessed'] })
  })

  test('whose last record was rewritten, hash, index and all, proves nothing', async () => {
    const { rows } = await sql('select size - 1 as size from audit.head where chain = 0')
    await rewriteSuffix(fixture, { chain: 0, from: rows[0]?.size ?? 0 })
    expect((await ends(tasks[1] ?? '')).rules).toEqual(['SEAL_ROOT', 'TASK_END'])
    // The other task of the chain is what it was, and its end vouches for it.
    expect(await ends(tasks[0] ?? '')).toEqual({ rules: [], ends: ['witnessed 4'] })
  })

  test('whose last records were cut off with the end of their chain is not whole', async () => {
    await truncateChain(fixture, { chain: 0, count: 2 })
    expect(await trace(0)).toMatchObject({ verified: false, rules: ['SEAL_ROOT', 'TASK_END'] })
  })

  test('one of whose records was deleted alone is not whole', async () => {
    await sql(`delete from audit.record where chain = 0 and seq =
      (select max(seq) from audit.idem where task_id = '${tasks[0]}')`)
    expect((await trace(0)).rules).toContain('RECORD_INDEX')
  })

  test('in which a record stands that was never appended names it', async () => {
    await sql(`delete from audit.idem where task_id = '${tasks[0]}' and seq =
      (select max(seq) from audit.idem where task_id = '${tasks[0]}')`)
    expect((await trace(0)).rules).toEqual(['RECORD_INDEX'])
  })

  test('is read on, and not called witnessed, where an entry of the seal log is gone', async () => {
    await sql('delete from audit.seal where seq = 1')
    expect(await trace(0)).toEqual({ verified: true, rules: [], labels: ['sealed'] })
  })

  test('is not called witnessed by an entry of the seal log that nobody witnessed', async () => {
    await sql(`update audit.seal set body = convert_to(replace(convert_from(body, 'UTF8'), '"size":', '"size": '), 'UTF8')
      where seq = (select max(size) - 1 from audit.witnessed)`)
    expect((await trace(0)).labels).toEqual(['sealed'])
  })
})
