// The cold store is watched from the first day: what is missing or changed is found while its day still stands in the database, stops
// the archiver, takes the label `archived` away, and can be mended.
import { randomUUID } from 'node:crypto'
import { cp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  mendColdStore,
  readColdWatch,
  readCoveredSizes,
  readFirstColdFaults,
  readTrace,
} from '@baton/audit'
import {
  createNoteSigner,
  decodeEntryBundle,
  decodeHashTile,
  encodeEntryBundle,
  encodeHashTile,
  formatCheckpoint,
  hashLeaf,
  rootOf,
  signNote,
} from '@baton/ledger'
import { eventually, sliceOf } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { READ_TOKEN } from './audit-fixture.ts'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'

const ORIGIN = 'baton/development/1/s0'
const RECORDS = 600

let tiers: Tiers
let kept: string
let archiver: ServiceProcess
const tasks = { first: randomUUID(), second: randomUUID(), last: randomUUID() }

const pathOf = (name: string) => join(tiers.folder, ORIGIN, name)

beforeAll(async () => {
  tiers = await createTiers()
  await tiers.append(0, 10, { taskId: tasks.first })
  await tiers.append(0, 290)
  await tiers.append(0, 10, { taskId: tasks.second })
  await tiers.append(0, 280)
  await tiers.append(0, RECORDS - 590, { taskId: tasks.last })
  await tiers.sealing.sealed()
  archiver = await tiers.startArchiver()
  await tiers.archived(({ size }) => size === 512)
  await archiver.stop()
  await tiers.archived(({ tail }) => tail === RECORDS)
  kept = `${tiers.folder}.kept`
  await cp(tiers.folder, kept, { recursive: true })
})
afterEach(async () => {
  await archiver.kill()
  await rm(tiers.folder, { recursive: true, force: true })
  await cp(kept, tiers.folder, { recursive: true })
})
afterAll(() => tiers?.close())

/** An archiver that has read the whole store again since it was started. */
async function readAgain(): Promise<void> {
  const before = (await readColdWatch(tiers.fixture.reader))?.lastPass?.endedAt
  await archiver.kill()
  archiver = await tiers.startArchiver()
  let passes = 0
  let last = before
  await eventually(
    async () => {
      const ended = (await readColdWatch(tiers.fixture.reader))?.lastPass?.endedAt
      if (ended !== last) passes += 1
      last = ended
      // One may have been under way when the archiver before it was stopped.
      return passes >= 2
    },
    { deadlineMs: 30_000, describe: () => archiver.output() },
  )
}

const isReady = async (): Promise<boolean> =>
  (await fetch(`${opsUrl(archiver)}/readyz`)).status === 200

async function keptAs(taskId: string): Promise<string[]> {
  const { fixture, cold, sealKey } = tiers
  const covered = await readCoveredSizes(fixture.reader, sealKey)
  const { records } = await readTrace(fixture.reader, taskId, { covered, cold })
  return [...new Set(records.map(({ assurance }) => assurance))]
}

/** What `GET /v1/tiers` says of it. */
async function told(): Promise<unknown> {
  const headers = { authorization: `Bearer ${READ_TOKEN}` }
  const answer = await fetch(`${tiers.auditorUrl}/v1/tiers`, { headers })
  return ((await answer.json()) as { watch: unknown }).watch
}

const faults = async (): Promise<string[]> =>
  (await readFirstColdFaults(tiers.fixture.reader)).faults.map(
    ({ log, bundle, rule, message }) => `${log}/${bundle} ${rule}: ${message}`,
  )

async function flip(name: string, behindMiddle = 0): Promise<void> {
  const bytes = await readFile(pathOf(name))
  const at = Math.floor(bytes.length / 2) + behindMiddle
  bytes[at] = (bytes[at] as number) ^ 1
  await writeFile(pathOf(name), bytes)
}

/** What only whoever has the sealer's key can make. */
function signedBySealer(size: number, root = Buffer.alloc(32, 7)): string {
  const signer = createNoteSigner({ name: ORIGIN, pkcs8: tiers.sealing.sealKey })
  return signNote(formatCheckpoint({ origin: ORIGIN, size, root }), [signer])
}

/** As an archiver had written it an hour before. */
async function olderHead(): Promise<void> {
  const entries = decodeEntryBundle(await readFile(pathOf('tile/entries/000')), 256) ?? []
  const root = Buffer.from(rootOf(entries.map(hashLeaf)))
  await writeFile(pathOf('checkpoint'), signedBySealer(256, root))
}

/** As somebody would who knows the format: everything below the tile above it fits again. */
async function rewriteRecord(): Promise<void> {
  const path = pathOf('tile/entries/001')
  const entries = decodeEntryBundle(await readFile(path), 256) ?? []
  const body = Buffer.from(entries[44] as Uint8Array).toString()
  entries[44] = Buffer.from(body.replace('"spentMicroUSD":80000', '"spentMicroUSD":10000'))
  await writeFile(path, encodeEntryBundle(entries))
  const hashes = decodeHashTile(await readFile(pathOf('tile/0/001')), 256) ?? []
  hashes[44] = hashLeaf(entries[44])
  await writeFile(pathOf('tile/0/001'), encodeHashTile(hashes))
}

describe('the cold store, read again while its day is hot', () => {
  test('as it is, is no finding, to the end of its last bundle', async () => {
    await readAgain()
    const { lastPass } = (await readColdWatch(tiers.fixture.reader)) ?? {}
    expect(lastPass).toMatchObject({ faults: 0 })
    // Two bundles and the last of the chain, and that of the seal log.
    expect(lastPass?.bundles).toBe(4)
    expect(await isReady()).toBe(true)
    expect(await faults()).toEqual([])
    expect(await told()).toMatchObject({ faults: 0, lastPass: { bundles: 4 } })
    expect(await keptAs(tasks.second)).toEqual(['archived'])
    expect(await tiers.verify()).toMatchObject({ findings: [], copies: 4 })
  })

  const ATTACKS: readonly [string, () => Promise<void>, string][] = [
    [
      '40 a bundle with one bit of a record flipped',
      () => flip('tile/entries/001', 100),
      '0/1 TILE_HASH: the bundle and its hash tile differ',
    ],
    [
      '40 a bundle that was cut off',
      async () => truncate(pathOf('tile/entries/001'), 10_000),
      '0/1 TILE_UNREADABLE: tile/entries/001 of the cold store cannot be decoded',
    ],
    [
      '40 a bundle rewritten with its hash tile',
      rewriteRecord,
      '0/1 TILE_HASH: the hash tiles do not lead to the signed root',
    ],
    [
      '41 a hash tile with one bit flipped',
      () => flip('tile/0/001'),
      '0/1 TILE_HASH: the bundle and its hash tile differ',
    ],
    [
      '42 payloads with one bit flipped',
      () => flip('payload/001.zst'),
      '0/1 TILE_UNREADABLE: payload/001 of the cold store cannot be decoded',
    ],
    [
      'a bundle that is gone',
      () => rm(pathOf('tile/entries/001')),
      '0/1 TILE_MISSING: tile/entries/001 is missing from the cold store',
    ],
    [
      'the last bundle, which is not full',
      () => flip('tile/0/002.p/88'),
      '0/2 TILE_HASH: tile/0/002.p/88 is not what the database has',
    ],
    [
      'the tile above, which is not full',
      () => rm(pathOf('tile/1/000.p/2')),
      '0/2 TILE_MISSING: tile/1/000.p/2 is missing from the cold store',
    ],
    [
      'a signed head that was changed',
      () => flip('checkpoint'),
      '0/2 TILE_HASH: checkpoint in the cold store is none that the sealer signed',
    ],
    [
      'the signed head of another log',
      () => cp(join(tiers.folder, 'baton/development/seals/checkpoint'), pathOf('checkpoint')),
      '0/2 TILE_HASH: checkpoint in the cold store is none that the sealer signed',
    ],
    [
      'a signed head that fits the key and not the tiles',
      async () => writeFile(pathOf('checkpoint'), signedBySealer(300)),
      '0/2 TILE_HASH: checkpoint of 300 records is not of the hash tiles beside it',
    ],
  ]

  test.each(sliceOf(ATTACKS, 3))(
    '%s stops the archiver and is located',
    async (_, attack, found) => {
      await attack()
      await readAgain()
      expect(await faults()).toEqual([found])
      expect(await told()).toMatchObject({
        faults: 1,
        firstFaults: [{ message: found.slice(found.indexOf(': ') + 2) }],
      })
      const verified = (await tiers.verify()).findings.map(
        ({ rule, message }) => `${rule}: ${message}`,
      )
      expect(verified).toContain(found.slice(4))
      expect(await isReady()).toBe(false)
      expect(archiver.output()).toContain('audit mend-cold')
      const isLast = found.startsWith('0/2')
      expect(await keptAs(tasks.first)).toEqual(['archived'])
      expect(await keptAs(tasks.second)).toEqual([isLast ? 'archived' : 'witnessed'])
      expect(await keptAs(tasks.last)).toEqual([isLast ? 'witnessed' : 'archived'])
    },
  )

  test('a signed head that is gone is written anew, and one that a restore made older moves on', async () => {
    const head = await readFile(pathOf('checkpoint'), 'utf8')
    expect(head).toMatch(new RegExp(`^${ORIGIN}\n${RECORDS}\n`))
    for (const lose of [() => rm(pathOf('checkpoint')), olderHead]) {
      await lose()
      await readAgain()
      expect(await faults()).toEqual([])
      expect(await isReady()).toBe(true)
      expect(await readFile(pathOf('checkpoint'), 'utf8')).toBe(head)
    }
  })

  test('what was found is no finding any more once it is whole again', async () => {
    await readAgain()
    expect(await faults()).toEqual([])
    expect(await isReady()).toBe(true)
  })

  test('43 a folder that is gone stops the archiver for good, until it is mended from the database', async () => {
    await rm(join(tiers.folder, ORIGIN), { recursive: true })
    await readAgain()
    expect(await isReady()).toBe(false)
    expect((await faults()).map((fault) => fault.split(' ')[0])).toEqual(['0/0', '0/1', '0/2'])
    expect(await keptAs(tasks.first)).toEqual(['witnessed'])
    // A start does not forget it, and writes nothing by itself.
    await readAgain()
    expect(await isReady()).toBe(false)
    expect(await tiers.cold.list(`${ORIGIN}/`)).toEqual([])
    const { code, output } = await tiers.mend()
    expect(output).toContain(`${ORIGIN}/tile/entries/001`)
    expect(output).toContain(`${ORIGIN}/checkpoint`)
    expect(code).toBe(0)
    expect(await faults()).toEqual([])
    await readAgain()
    expect(await isReady()).toBe(true)
    expect(await keptAs(tasks.second)).toEqual(['archived'])
    expect((await tiers.verify()).findings).toEqual([])
  })

  test('what was changed is never replaced: it is moved away by a person first', async () => {
    await flip('tile/entries/001')
    const refused = await tiers.mend()
    expect(refused.code).toBe(3)
    expect(refused.output).toContain('the cold store holds another object as')
    await rename(pathOf('tile/entries/001'), `${tiers.folder}.evidence`)
    expect(await tiers.mend()).toMatchObject({ code: 0 })
  })

  test('a signed head that was changed is never replaced either', async () => {
    await flip('checkpoint')
    const refused = await tiers.mend()
    expect(refused.code).toBe(3)
    expect(refused.output).toContain('none that the sealer signed')
    await rename(pathOf('checkpoint'), `${tiers.folder}.evidence`)
    expect(await tiers.mend()).toMatchObject({ code: 0 })
    expect(await readFile(pathOf('checkpoint'), 'utf8')).toMatch(new RegExp(`\n${RECORDS}\n`))
  })

  test('nothing is written from records that do not lead to the signed root', async () => {
    await rm(pathOf('tile/entries/001'))
    const { superuser } = tiers.fixture
    const edit = (to: number) => `alter table audit.record disable trigger user;
      update audit.record set body = set_byte(body, 40, get_byte(body, 40) # 1),
        record_hash = sha256('\\x00'::bytea || set_byte(body, 40, get_byte(body, 40) # 1))
        where seq = ${to}`
    await superuser.query({ text: edit(300) })
    const { archiverPool: pool, cold: store, sealKey } = tiers
    const { written, findings } = await mendColdStore({ pool, store, sealKey })
    await superuser.query({ text: edit(300) })
    expect(written.filter((name) => name.startsWith(`${ORIGIN}/`))).toEqual([])
    expect(findings.map(({ rule }) => rule)).toContain('SEAL_ROOT')
  })
})
