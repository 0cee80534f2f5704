// Records go only when their time is over and nobody holds them; what is left still proves itself.
import { createHash, randomUUID } from 'node:crypto'
import type { UUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  dropDay,
  expireChain,
  findDropObstacle,
  presenceOf,
  readArchivePositions,
  readCosts,
  readCoveredSizes,
  readLegalHolds,
  readTile,
  readTrace,
} from '@baton/audit'
import { decodeHashTile, sealLogOrigin, uuidOfDigest } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { pastGuards } from './audit-holds-fixture.ts'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

let tiers: Tiers
const taskId = randomUUID()
/** Its first record is older than the retention. */
const cut = randomUUID()
let oldest: UUID
/** All its records are among the first that expire. */
let gone: UUID
/** None of its records expires. */
let young: UUID
const DAY_MICROS = 86_400_000_000
const ORIGIN = 'baton/development/1/s0'

beforeAll(async () => {
  tiers = await createTiers(1, { isAged: true })
  const first = (await tiers.append(420, 255)).map((entry) => entry.taskId as UUID)
  oldest = first[0] as UUID
  gone = first[1] as UUID
  await tiers.append(420, 1, { taskId: cut })
  await tiers.append(200, 299)
  await tiers.append(200, 1, { taskId: cut })
  await tiers.append(200, 2, { taskId })
  young = ((await tiers.append(0, 300))[299]?.taskId ?? '') as UUID
  await tiers.sealing.sealed()
})
afterAll(() => tiers?.close())

const hold = async (event: 'LEGAL_HOLD_SET' | 'LEGAL_HOLD_LIFTED', of = taskId) => {
  const id = randomUUID()
  const act = { id, actor: 'counsel' }
  await tiers.append(0, 1, { event, taskId: of, handoffId: id, act, verdicts: null, segments: [] })
}
const position = async () => {
  const found = (await readArchivePositions(tiers.fixture.reader)).get(0)
  if (found === undefined) throw new Error('nothing is archived')
  return found
}
const expire = async (daysKept: number) =>
  expireChain({
    db: tiers.archiverPool,
    store: tiers.cold,
    origin: ORIGIN,
    position: await position(),
    beforeMicros: Date.now() * 1_000 - daysKept * DAY_MICROS,
    heldAmong: tiers.heldAmong,
    isOldEnough: tiers.isOldEnough,
    record: tiers.record,
  })
const dayOf = (daysAgo: number): string =>
  new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)

describe('retention and legal holds', () => {
  test('an archiver that would keep records for less than 183 days does not start', async () => {
    const started = tiers.startArchiver({ BATON_AUDIT_RETENTION_DAYS: '182' })
    await expect(started).rejects.toThrow(/BATON_AUDIT_RETENTION_DAYS/)
  })

  test('a held task keeps its day in the database, and an append token cannot lift the hold', async () => {
    await hold('LEGAL_HOLD_SET')
    expect(await readLegalHolds(tiers.fixture.reader)).toMatchObject([{ taskId }])
    const entries = [{ event: 'LEGAL_HOLD_LIFTED', taskId }]
    const refused = await fetch(`${tiers.auditorUrl}/v1/records`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer append-token-9516dfb15f51c7ee19a4d4',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ entries }),
    })
    expect(refused.status).toBe(403)
    await tiers.sealing.sealed()
    const archiver = await tiers.startArchiver({ BATON_AUDIT_RETENTION_DAYS: '3650' })
    await tiers.archived(({ size, hotFrom }) => size === 768 && hotFrom === 256)
    await archiver.stop()
    const day = dayOf(200)
    expect(await findDropObstacle(tiers.archiverPool, { day, hotDays: 30 })).toBe('LEGAL_HOLD')
    const drop = dropDay(tiers.archiverPool, { day, hotDays: 30, chain: 0, seq: 0 })
    await expect(drop).rejects.toMatchObject({ code: 'BATON_AUDIT_DATABASE_REFUSED' })
  })

  test('a held task keeps its day also where the row of its hold was deleted', async () => {
    const { superuser } = tiers.fixture
    await superuser.query({ text: 'create table kept_hold as table audit.legal_hold' })
    await superuser.query({ text: 'delete from audit.legal_hold' })
    const archiver = await tiers.startArchiver({ BATON_AUDIT_RETENTION_DAYS: '3650' })
    const stays = `"event":"archive.day_stays","day":"${dayOf(200)}","reason":"LEGAL_HOLD"`
    await eventually(() => archiver.output().includes(stays), {
      deadlineMs: 20_000,
      describe: () => archiver.output(),
    })
    await archiver.stop()
    expect((await position()).hotFrom).toBe(256)
    await superuser.query({ text: 'insert into audit.legal_hold table kept_hold' })
  })

  test('a bundle stays with a record of a held task in it, also where the row of its hold was deleted', async () => {
    await hold('LEGAL_HOLD_SET', oldest)
    await tiers.sealing.sealed()
    const { superuser } = tiers.fixture
    await superuser.query({
      text: 'delete from audit.legal_hold where task_id = $1',
      values: [oldest],
    })
    expect(await expire(400)).toBe(0)
    await hold('LEGAL_HOLD_LIFTED', oldest)
    await tiers.sealing.sealed()
  })

  test('the archiver’s role changes nothing by itself', async () => {
    for (const statement of [
      'update audit.archive set hot_from = size',
      'delete from audit.legal_hold',
      'delete from audit.record',
      'truncate audit.record',
      'drop table audit.record',
      'insert into audit.legal_hold values (gen_random_uuid(), 0, 0, now())',
      `select audit.mark_archived(0::smallint, 1048576, 1048576)`,
      `select audit.drop_day((now() - interval '1 day')::date, 0, 0::smallint, 0)`,
    ]) {
      const refused = tiers.archiverPool.query({ text: statement })
      await expect(refused).rejects.toMatchObject({ code: '42501' })
    }
  })

  test('what is marked as expired, and was removed by somebody else, is found', async () => {
    const { superuser } = tiers.fixture
    await superuser.query({
      text: `update audit.archive a set min_index = 256, start_hash = i.record_hash, start_at = i.recorded_at
        from audit.idem i where a.log = 0 and i.chain = 0 and i.seq = 255`,
    })
    const { findings } = await tiers.verify()
    expect(findings.map(({ seq, rule, message }) => [seq, rule, message])).toEqual([
      [0, 'RECORD_SEQ', 'records 0 to 255 are marked as expired, and no record says so'],
    ])
    await superuser.query({
      text: `alter table audit.archive disable trigger refuse_less; update audit.archive set min_index = 0,
        start_hash = decode(repeat('00', 32), 'hex'), start_at = 'epoch' where log = 0;
        alter table audit.archive enable always trigger refuse_less`,
    })
  })

  test('what is older than the retention expires in whole bundles, and the rest verifies', async () => {
    expect(await expire(400)).toBe(256)
    expect(await tiers.cold.list(`${ORIGIN}/tile/entries/000`)).toEqual([])
    expect(await tiers.cold.list(`${ORIGIN}/payload/000`)).toEqual([])
    expect(await tiers.cold.list(`${ORIGIN}/tile/0/000`)).toHaveLength(1)
    await tiers.sealing.sealed()
    const report = await tiers.verify()
    expect(report.findings).toEqual([])
    const { rows } = await tiers.fixture.superuser.query<{ body: string }>({
      text: `select convert_from(body, 'UTF8') as body from audit.record where event = 35 order by seq desc limit 1`,
    })
    expect(JSON.parse(rows[0]?.body ?? '')).toMatchObject({
      reason: 'EXPIRED_CHAIN_0_BELOW_256',
      fromAgent: { agentId: 'archiver' },
      recordedAt: expect.any(String),
    })
  })

  test('nothing younger than 183 days expires, whatever is asked', async () => {
    await hold('LEGAL_HOLD_LIFTED')
    await tiers.sealing.sealed()
    const archiver = await tiers.startArchiver()
    await tiers.archived(({ hotFrom }) => hotFrom === 558)
    await archiver.stop()
    expect(await expire(190)).toBe(512)
    await tiers.append(0, 250)
    await expect(
      tiers.archiverPool.query({
        text: `select audit.expire(0::smallint, 768, task_id, task_seq) from audit.idem where seq = 767`,
      }),
    ).rejects.toThrow(/183 days/)
    expect((await tiers.verify()).findings).toEqual([])
  })

  test('a task whose first records expired says so, and has no gap; tiles are served from both tiers', async () => {
    const trace = await readTrace(tiers.fixture.reader, cut, { cold: tiers.cold })
    expect(trace).toMatchObject({ verified: true, expired: 1, gaps: [], findings: [] })
    const tile = { level: 0, index: 0, width: 256 } as const
    const bytes = await readTile(
      tiers.fixture.reader,
      { chain: 0 },
      { tile, size: 768, cold: tiers.cold },
    )
    expect(decodeHashTile(bytes as Uint8Array, 256)).toHaveLength(256)
    const upper = { level: 1, index: 0, width: 3 } as const
    const above = await readTile(
      tiers.fixture.reader,
      { chain: 0 },
      { tile: upper, size: 768, cold: tiers.cold },
    )
    expect(decodeHashTile(above as Uint8Array, 3)).toHaveLength(3)
  })

  test('what such a task cost may be more than is left, which is no alarm', async () => {
    const costs = await readCosts(tiers.fixture.reader, { by: ['day'], cold: tiers.cold })
    expect(costs).toMatchObject({ doubtful: [], expired: [cut], looked: { findings: [] } })
  })

  const covered = () => readCoveredSizes(tiers.fixture.reader, tiers.sealKey)
  const traceOf = async (of: string) =>
    readTrace(tiers.fixture.reader, of, { cold: tiers.cold, covered: await covered() })

  test('a task whose records have all expired is told as that, which is proven, and not as one that never was', async () => {
    await eventually(async () => (await traceOf(gone)).ends.length > 0, {
      deadlineMs: 10_000,
      describe: 'the expiry to be under a signed head',
    })
    const trace = await traceOf(gone)
    expect(trace).toMatchObject({ records: [], expired: 1, verified: true, findings: [] })
    expect(trace.ends[0]).toMatchObject({ records: 1 })
    expect(presenceOf(trace)).toBe('there')
  })

  test('of a task that has wholly expired, a map that was made anew does not say that it never was', async () => {
    await tiers.sealer.stop()
    const { fixture } = tiers
    await pastGuards(fixture, ['task_map'], 'delete from audit.task_map')
    const sealer = await tiers.sealing.startSealer({ BATON_COLD_FOLDER: tiers.folder })
    const isAnew = async () => {
      const { ends, findings } = await traceOf(young)
      return findings.length === 0 && ends.length > 0
    }
    await eventually(isAnew, { deadlineMs: 20_000, describe: () => sealer.output() })
    expect(sealer.output()).toContain('seal.task_map_built')
    // Whoever owns the database takes the task out of the index, too.
    await pastGuards(
      fixture,
      ['idem'],
      `create table kept_idem as select * from audit.idem where task_id = '${gone}';
        delete from audit.idem where task_id = '${gone}'`,
    )
    expect(presenceOf(await traceOf(gone))).toBe('unproven')
    await pastGuards(
      fixture,
      ['idem'],
      'insert into audit.idem table kept_idem; drop table kept_idem',
    )
    expect(presenceOf(await traceOf(gone))).toBe('there')
    expect((await tiers.verify()).findings).toEqual([])
  })

  test('a record of an expiry that was forged with the stolen key of the batches is none before 183 days are over', async () => {
    const { superuser } = tiers.fixture
    const [{ taskId: retention } = { taskId: '' }] = (
      await superuser.query<{ taskId: string }>({
        text: 'select task_id as "taskId" from audit.record where event = 35 limit 1',
      })
    ).rows
    const sealLog = sealLogOrigin(ORIGIN)
    const digest = createHash('sha256').update(`baton/expiry/v1|${sealLog}|0|768`).digest('hex')
    await tiers.append(0, 1, {
      event: 'PARTITION_DROPPED',
      taskId: retention,
      handoffId: uuidOfDigest(digest),
      attempt: 0,
      epoch: 0,
      reason: 'EXPIRED_CHAIN_0_BELOW_768',
      verdicts: null,
      cost: null,
      segments: [],
    })
    await tiers.sealing.sealed()
    const { rows } = await superuser.query<{ taskId: string }>({
      text: 'select task_id as "taskId" from audit.idem where chain = 0 and seq = 700',
    })
    const taken = rows[0]?.taskId ?? ''
    expect(await traceOf(taken)).toMatchObject({ verified: true, expired: 0 })
    await superuser.query({
      text: `create table kept_archive as table audit.archive;
        alter table audit.record disable trigger user;
        delete from audit.record where chain = 0 and seq = 700;
        update audit.archive a set min_index = 768, hot_from = 768, start_hash = i.record_hash, start_at = i.recorded_at
        from audit.idem i where a.log = 0 and i.chain = 0 and i.seq = 767`,
    })
    const early = /^records 0 to 767 are said to have expired, .* less than 183 days/
    const told = { rule: 'RECORD_SEQ', message: expect.stringMatching(early) }
    const trace = await traceOf(taken)
    expect(trace).toMatchObject({ records: [], expired: 1, verified: false, ends: [] })
    expect(trace.findings).toEqual([expect.objectContaining(told)])
    expect((await tiers.verify()).findings).toContainEqual(expect.objectContaining(told))
    expect(await tiers.heldAmong([taken])).toEqual([taken])
    await superuser.query({
      text: `alter table audit.archive disable trigger refuse_less;
        update audit.archive a set min_index = k.min_index, hot_from = k.hot_from, start_hash = k.start_hash, start_at = k.start_at
        from kept_archive k where k.log = a.log;
        alter table audit.archive enable always trigger refuse_less;
        drop table kept_archive`,
    })
  })

  test('a task that was deleted and is said to have stood among the expired records does not pass for expired', async () => {
    expect(await traceOf(young)).toMatchObject({ verified: true, expired: 0 })
    await tiers.fixture.superuser.query({
      text: `alter table audit.record disable trigger user; alter table audit.idem disable trigger user;
        delete from audit.record where task_id = '${young}';
        update audit.idem set seq = 7 where task_id = '${young}'`,
    })
    const trace = await traceOf(young)
    expect(trace).toMatchObject({ records: [], expired: 1, verified: false, ends: [] })
    expect(new Set(trace.findings.map(({ rule }) => rule))).toEqual(new Set(['SEAL_ROOT']))
  })
})
