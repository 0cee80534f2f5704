// What is sealed comes to stand in the cold store, and a day goes from the hot one only when it provably does.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  findDropObstacle,
  findReceiptRecords,
  readCoveredSizes,
  readHotDays,
  readTrace,
} from '@baton/audit'
import { decodeEntryBundle, readRecord, recordIdBytes } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'

let tiers: Tiers
let handoffId: string
let tasks: { readonly old: string; readonly recent: string }

beforeAll(async () => {
  tiers = await createTiers()
  const [first] = await tiers.append(40, 520)
  handoffId = first?.handoffId ?? ''
  await tiers.append(39, 150)
  const [recent] = await tiers.append(0, 200)
  tasks = { old: first?.taskId ?? '', recent: recent?.taskId ?? '' }
  await tiers.sealing.sealed()
})
afterAll(() => tiers?.close())

const ORIGIN = 'baton/development/1/s0'
/** How well the records of a task are kept, and in which tier they stand. */
const kept = async (taskId: string): Promise<string[]> => {
  const { fixture, cold, sealKey } = tiers
  const covered = await readCoveredSizes(fixture.reader, sealKey)
  const trace = await readTrace(fixture.reader, taskId, { covered, cold })
  return trace.records.map(({ assurance, tier }) => `${assurance}, ${tier}`)
}
const old = (daysAgo: number): string =>
  new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)

describe('E21 archiving and dropping', () => {
  test('a record that only the database has is not called archived', async () => {
    expect(await kept(tasks.old)).toEqual(['witnessed, hot'])
  })

  test('while the cold store cannot be written, the metric says how much waits for it', async () => {
    const archiver = await tiers.startArchiver({
      BATON_COLD_FOLDER: join(tiers.sealing.stateFile, 'below-a-file'),
    })
    const metrics = async () => (await fetch(`${opsUrl(archiver)}/metrics`)).text()
    const lag = async () =>
      Number(/^baton_audit_archive_lag_records (\d+)/m.exec(await metrics())?.[1])
    const soon = { deadlineMs: 20_000, describe: () => archiver.output() }
    await eventually(() => archiver.output().includes('"event":"archive.failed"'), soon)
    await eventually(async () => (await lag()) >= 870, soon)
    expect(archiver.output()).toContain('BATON_COLD_STORE_UNAVAILABLE')
    await archiver.kill()
  })

  test('full bundles, tiles and payloads are stored, partial ones at the end', async () => {
    const archiver = await tiers.startArchiver({
      BATON_ARCHIVE_RETENTION_EVERY_MS: '86400000',
      BATON_AUDIT_HOT_DAYS: '300',
    })
    await tiers.archived(({ size }) => size === 768)
    expect(await archiver.stop()).toBe(0)
    await tiers.archived(({ tail }) => tail === 870)
    const names = await tiers.cold.list(`${ORIGIN}/`)
    expect(names).toEqual(
      [
        'checkpoint',
        'payload/000',
        'payload/001',
        'payload/002',
        'payload/003.p/102',
        'tile/0/000',
        'tile/0/001',
        'tile/0/002',
        'tile/0/003.p/102',
        'tile/1/000.p/3',
        'tile/entries/000',
        'tile/entries/001',
        'tile/entries/002',
        'tile/entries/003.p/102',
      ].map((name) => `${ORIGIN}/${name}`),
    )
    const stored = await tiers.cold.get(`${ORIGIN}/tile/entries/001`)
    const entries = decodeEntryBundle(stored as Uint8Array, 256)
    expect(entries?.map((entry) => readRecord(entry)?.seq)).toEqual(
      Array.from({ length: 256 }, (_, at) => 256 + at),
    )
    expect(await readdir(tiers.folder)).toEqual(['baton'])
  })

  test('a trace says archived of what both tiers have, its partial bundle included', async () => {
    expect(await kept(tasks.old)).toEqual(['archived, hot'])
    expect(await kept(tasks.recent)).toEqual(['archived, hot'])
  })

  test('no day is dropped on the database’s word that a seal was seen outside, where an anchor file says otherwise', async () => {
    const archiver = await tiers.startArchiver({
      BATON_AUDIT_DROP_WITNESSED: 'true',
      BATON_SEAL_ANCHOR_FILE: `${tiers.sealing.anchorFile}.none`,
    })
    const stays = `"event":"archive.day_stays","day":"${old(40)}","reason":"NOT_WITNESSED"`
    await eventually(() => archiver.output().includes(stays), {
      deadlineMs: 20_000,
      describe: () => archiver.output(),
    })
    await archiver.stop()
    expect(await readHotDays(tiers.fixture.reader)).toContain(old(40))
  })

  test('only the first day whose bundles are all full is dropped, and the drop is recorded first', async () => {
    const archiver = await tiers.startArchiver()
    await tiers.archived(({ hotFrom }) => hotFrom === 670)
    const days = await readHotDays(tiers.fixture.reader)
    expect(days).not.toContain(old(40))
    expect(days).not.toContain(old(39))
    const { rows } = await tiers.fixture.superuser.query<{ reason: string }>({
      text: `select convert_from(body, 'UTF8')::jsonb ->> 'reason' as reason from audit.record where event = 35 order by seq`,
    })
    expect(rows.map(({ reason }) => reason)).toEqual(
      [40, 39].map((daysAgo) => `DAY_${old(daysAgo).replaceAll('-', '')}`),
    )
    expect(await archiver.stop()).toBe(0)
    expect(archiver.output()).not.toContain('tamper')
    const today = { day: old(0), hotDays: 1 }
    expect(await findDropObstacle(tiers.archiverPool, today)).toBe('HOT')
  })

  test('and of what the cold store alone has', async () => {
    expect(await kept(tasks.old)).toEqual(['archived, cold'])
    expect(await kept(tasks.recent)).toEqual(['archived, hot'])
  })

  test('a receipt of a dropped record is still known', async () => {
    const key = recordIdBytes({ handoffId, event: 'HANDOFF_ACCEPTED', epoch: 1 })
    const records = await findReceiptRecords(tiers.fixture.reader, [key])
    expect(records.get(key.toString('hex'))).toMatchObject({ chain: 0, seq: 0 })
  })

  test('the whole log verifies out of both tiers, payloads included', async () => {
    const report = await tiers.verify()
    expect(report.findings).toEqual([])
    expect(report.records).toBe(872)
  })
})
