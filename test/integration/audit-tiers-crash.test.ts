// An archiver that dies anywhere starts again where it was: nothing is dropped unarchived, nothing recorded twice.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

let tiers: Tiers

beforeEach(async () => {
  tiers = await createTiers()
  await tiers.append(40, 300)
  await tiers.append(0, 300)
  await tiers.sealing.sealed()
})
afterEach(() => tiers?.close())

const POINTS = [
  'archiver.after_put',
  'archiver.before_mark',
  'archiver.before_drop',
  'archiver.after_drop',
]

describe('kill -9 of the archiver', () => {
  test.each(POINTS)('at %s loses and repeats nothing', async (point) => {
    const dying = await tiers.startArchiver({ BATON_CRASH_AT: point, BATON_TEST_READY: 'false' })
    expect(await dying.exited(20_000)).toEqual({ code: null, signal: 'SIGKILL' })
    expect((await tiers.verify()).findings).toEqual([])
    const archiver = await tiers.startArchiver()
    await tiers.archived(({ size, hotFrom }) => size === 512 && hotFrom === 300)
    await archiver.stop()
    expect(archiver.output()).not.toContain('tamper')
    const report = await tiers.verify()
    expect(report.findings).toEqual([])
    expect(report.records).toBe(601)
  })

  test('at archiver.before_head leaves a store without a head, or with the one before, and never one ahead of its objects', async () => {
    const head = `baton/development/1/s0/checkpoint`
    const sizeOf = (note: Uint8Array | null | undefined) =>
      note && Number(Buffer.from(note).toString().split('\n')[1])
    const dying = await tiers.startArchiver({ BATON_CRASH_AT: 'archiver.before_head' })
    await tiers.archived(({ size, hotFrom }) => size === 512 && hotFrom === 300)
    expect(await tiers.cold.get(head)).toBeUndefined()
    dying.signal('SIGTERM')
    expect(await dying.exited(20_000)).toEqual({ code: null, signal: 'SIGKILL' })
    expect((await tiers.verify()).findings).toEqual([])
    const archiver = await tiers.startArchiver()
    await archiver.stop()
    expect(archiver.output()).not.toContain('tamper')
    expect(sizeOf(await tiers.cold.get(head))).toBe(601)
    expect((await tiers.verify()).findings).toEqual([])
  })
})
