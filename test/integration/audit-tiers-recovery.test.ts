// A sealer's lost state comes back also where a part of the log stands in the cold store alone, or has expired.
import { rm, stat } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expireChain, readArchivePositions } from '@baton/audit'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

let tiers: Tiers
const DAY_MICROS = 86_400_000_000

beforeAll(async () => {
  tiers = await createTiers(1, { isAged: true })
  await tiers.append(420, 256)
  await tiers.append(40, 512)
  await tiers.append(0, 40)
  await tiers.sealing.sealed()
  const archiver = await tiers.startArchiver()
  await tiers.archived(({ hotFrom }) => hotFrom === 768)
  await archiver.stop()
  const { fixture, archiverPool: db, cold: store, record, heldAmong, isOldEnough } = tiers
  const position = (await readArchivePositions(fixture.reader)).get(0)
  if (position === undefined) throw new Error('nothing is archived')
  const beforeMicros = Date.now() * 1_000 - 400 * DAY_MICROS
  const origin = 'baton/development/1/s0'
  await expireChain({ db, store, origin, position, beforeMicros, heldAmong, isOldEnough, record })
  await tiers.sealing.sealed()
  await tiers.sealer.stop()
  await rm(tiers.sealing.stateFile)
}, 120_000)
afterAll(() => tiers?.close())

async function recover(env: Record<string, string>): Promise<readonly [number | null, string]> {
  const settings = { ...env, BATON_TEST_READY: 'false' }
  const sealer = await tiers.sealing.startSealer(settings, ['recover'])
  return [(await sealer.exited()).code, sealer.output()]
}

test('without the cold store it says which setting is missing', async () => {
  const [code, output] = await recover({})
  expect([code, output]).toEqual([1, expect.stringContaining('BATON_COLD_FOLDER')])
  await expect(stat(tiers.sealing.stateFile)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a record that was changed in the cold store alone is named', async () => {
  const name = 'baton/development/1/s0/tile/entries/001'
  const kept = await tiers.cold.get(name)
  const other = await tiers.cold.get('baton/development/1/s0/tile/entries/002')
  await tiers.cold.remove([name])
  await tiers.cold.putIfAbsent(name, other as Uint8Array)
  const [code, output] = await recover({ BATON_COLD_FOLDER: tiers.folder })
  expect([code, output]).toEqual([3, expect.stringMatching(/RECORD_HASH \S+s0 256:/)])
  await tiers.cold.remove([name])
  await tiers.cold.putIfAbsent(name, kept as Uint8Array)
})

test('with it the log goes on, from what has expired to what is still hot', async () => {
  const [code, output] = await recover({ BATON_COLD_FOLDER: tiers.folder })
  expect([code, output]).toEqual([0, expect.stringContaining('vouched for by file')])
  await tiers.append(0, 3)
  const sealer = await tiers.sealing.startSealer()
  await tiers.sealing.sealed()
  expect(await sealer.stop()).toBe(0)
  expect((await tiers.verify()).findings).toEqual([])
})
