// The archiver removes nothing from the cold store on the word of whoever owns the database, or the store.
import type { UUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { expireChain, readArchivePositions } from '@baton/audit'
import { eventually } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

const ORIGIN = 'baton/development/1/s0'
const DAY_MICROS = 86_400_000_000
const KEEP = { BATON_AUDIT_RETENTION_DAYS: '3650' }

let tiers: Tiers
let archiver: ServiceProcess | undefined
/** Held; all its records but that of the hold are among the oldest. */
let held: UUID
let free: UUID

beforeAll(async () => {
  tiers = await createTiers(1, { isAged: true })
  const first = (await tiers.append(420, 256)).map(({ taskId }) => taskId as UUID)
  ;[held, free] = first as [UUID, UUID]
  await tiers.append(200, 256)
  await tiers.append(0, 10)
  await tiers.sealing.sealed()
  archiver = await tiers.startArchiver(KEEP)
  await tiers.archived(({ hotFrom }) => hotFrom === 512)
  await archiver.stop()
  const act = { id: held, actor: 'counsel' }
  const none = { act, verdicts: null, segments: [] }
  await tiers.append(0, 1, { event: 'LEGAL_HOLD_SET', taskId: held, ...none })
  await tiers.sealing.sealed()
}, 60_000)
afterEach(() => archiver?.stop())
afterAll(() => tiers?.close())

const bundles = () => tiers.cold.list(`${ORIGIN}/tile/entries/000`)

test('records that are marked as expired, and no record says so, stay in the cold store', async () => {
  const { superuser } = tiers.fixture
  await superuser.query({
    text: `create table kept_archive as table audit.archive;
      update audit.archive a set min_index = 256, start_hash = i.record_hash, start_at = i.recorded_at
      from audit.idem i where a.log = 0 and i.chain = 0 and i.seq = 255`,
  })
  expect(await bundles()).toHaveLength(1)
  archiver = await tiers.startArchiver(KEEP)
  const isJudged = async () =>
    archiver?.output().includes('audit.tamper_detected') || (await bundles()).length === 0
  await eventually(isJudged, { deadlineMs: 20_000, describe: () => archiver?.output() ?? '' })
  expect(await bundles()).toHaveLength(1)
  expect(archiver.output()).toMatch(/records 0 to 255 are marked as expired, and no record says so/)
  await superuser.query({
    text: `alter table audit.archive disable trigger refuse_less;
      update audit.archive a set min_index = k.min_index, start_hash = k.start_hash, start_at = k.start_at
      from kept_archive k where k.log = a.log;
      alter table audit.archive enable always trigger refuse_less;
      drop table kept_archive`,
  })
})

test('a bundle from which the task that is held was written out does not expire', async () => {
  const [name] = (await bundles()) as [string]
  const file = join(tiers.folder, name)
  const kept = await readFile(file)
  const isPacked = kept[0] === 0x1f && kept[1] === 0x8b
  const text = (isPacked ? gunzipSync(kept) : kept).toString('latin1').replaceAll(held, free)
  const changed = Buffer.from(text, 'latin1')
  await writeFile(file, isPacked ? gzipSync(changed) : changed)
  await tiers.fixture.superuser.query({
    text: 'delete from audit.legal_hold where task_id = $1',
    values: [held],
  })
  const position = (await readArchivePositions(tiers.fixture.reader)).get(0)
  if (position === undefined) throw new Error('nothing is archived')
  const expired = await expireChain({
    db: tiers.archiverPool,
    store: tiers.cold,
    origin: ORIGIN,
    position,
    beforeMicros: Date.now() * 1_000 - 400 * DAY_MICROS,
    heldAmong: tiers.heldAmong,
    isOldEnough: tiers.isOldEnough,
    record: tiers.record,
  })
  expect(expired).toBe(0)
  expect(await bundles()).toHaveLength(1)
  await writeFile(file, kept)
})
