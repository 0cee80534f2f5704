// Whoever reads keeps a day from being dropped, and nobody from appending.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readHotDays } from '@baton/audit'
import { eventually } from '@baton/testkit'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

let tiers: Tiers

beforeAll(async () => {
  tiers = await createTiers()
  await tiers.append(40, 256)
  await tiers.append(0, 10)
  await tiers.sealing.sealed()
})
afterAll(() => tiers?.close())

// Half a second, and what a busy machine adds.
const APPEND_MAX_MS = 1_500
const OLD_DAY = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10)

/** How long appends took, in milliseconds, while an archiver failed three times to drop the old day. */
async function appendsDuringDrops(): Promise<number[]> {
  const archiver = await tiers.startArchiver()
  const failures = () => archiver.output().split('"archive.failed"').length - 1
  const waits: number[] = []
  await eventually(
    async () => {
      const since = performance.now()
      await tiers.append(0, 1)
      waits.push(performance.now() - since)
      return failures() >= 3
    },
    { deadlineMs: 30_000, describe: () => archiver.output() },
  )
  const hotDays = await readHotDays(tiers.fixture.reader)
  await archiver.kill()
  expect(hotDays).toContain(OLD_DAY)
  return waits
}

describe('a reader that stays in its transaction', () => {
  test.each(['record', 'payload'])(
    'with %s read, appends wait for half a second at most while its day is to be dropped',
    async (table) => {
      const client = await tiers.fixture.reader.connect()
      try {
        await client.query('begin; set local idle_in_transaction_session_timeout = 0')
        await client.query(`select count(*) from audit.${table}`)
        expect(Math.max(...(await appendsDuringDrops()))).toBeLessThan(APPEND_MAX_MS)
      } finally {
        client.release(true)
      }
    },
  )

  test('ends it, and the day is dropped', async () => {
    const archiver = await tiers.startArchiver()
    await tiers.archived(({ hotFrom }) => hotFrom === 256)
    await archiver.stop()
    expect(await readHotDays(tiers.fixture.reader)).not.toContain(OLD_DAY)
    expect((await tiers.verify()).findings).toEqual([])
  })
})
