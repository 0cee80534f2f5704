// T22 and T23: whatever is done to the files of the cold store, the verifier and the trace find and locate it.
import { randomUUID } from 'node:crypto'
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readTrace, scrubPiece } from '@baton/audit'
import {
  decodeEntryBundle,
  decodeHashTile,
  encodeEntryBundle,
  encodeHashTile,
  hashLeaf,
} from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'

let tiers: Tiers
const touched = new Map<string, string>()
const taskId = randomUUID()
const HOPS = 10
const FIRST_HOP = 260

const pathOf = (name: string) => join(tiers.folder, 'baton/development/1/s0', name)
const ENTRIES = 'tile/entries/001'
const HASHES = 'tile/0/001'

beforeAll(async () => {
  tiers = await createTiers()
  await tiers.append(40, FIRST_HOP)
  await tiers.append(40, HOPS, { taskId })
  await tiers.append(40, 250)
  await tiers.append(0, 250)
  await tiers.sealing.sealed()
  const archiver = await tiers.startArchiver()
  await tiers.archived(({ hotFrom }) => hotFrom === 520)
  await archiver.stop()
})
afterEach(async () => {
  for (const [name, kept] of touched) await rename(kept, pathOf(name))
  touched.clear()
})
afterAll(() => tiers?.close())

/** Remembers a file, to be put back after the test. */
async function touch(name: string): Promise<string> {
  const kept = `${tiers.folder}.${randomUUID()}`
  await copyFile(pathOf(name), kept)
  touched.set(name, kept)
  return pathOf(name)
}

async function editEntry(at: number, change: (body: Buffer) => Buffer): Promise<Uint8Array> {
  const path = await touch(ENTRIES)
  const entries = decodeEntryBundle(await readFile(path), 256) ?? []
  entries[at] = change(Buffer.from(entries[at] as Uint8Array))
  await writeFile(path, encodeEntryBundle(entries))
  return hashLeaf(entries[at] as Uint8Array)
}

async function editHash(at: number, hash: Uint8Array): Promise<void> {
  const path = await touch(HASHES)
  const hashes = decodeHashTile(await readFile(path), 256) ?? []
  hashes[at] = hash
  await writeFile(path, encodeHashTile(hashes))
}

const cheaper = (body: Buffer): Buffer =>
  Buffer.from(body.toString().replace('"spentMicroUSD":80000', '"spentMicroUSD":10000'))

async function rules(): Promise<string[]> {
  const { findings } = await tiers.verify()
  return findings.map(({ seq, rule }) => `${rule}:${seq}`)
}

describe('the cold store', () => {
  test('as it is, is no finding, and a trace out of it is whole', async () => {
    expect(await rules()).toEqual([])
    const trace = await readTrace(tiers.fixture.reader, taskId, { cold: tiers.cold })
    expect(trace).toMatchObject({ verified: true, expired: 0, findings: [], gaps: [] })
    expect(trace.records.map(({ tier, body }) => `${tier} ${body.taskSeq}`)).toEqual(
      Array.from({ length: HOPS }, (_, at) => `cold ${at}`),
    )
  })

  test('T22 an edited record of a bundle is located', async () => {
    await editEntry(FIRST_HOP + 3 - 256, cheaper)
    expect(await rules()).toEqual(
      expect.arrayContaining([`RECORD_HASH:${FIRST_HOP + 3}`, `RECORD_LINK:${FIRST_HOP + 4}`]),
    )
    const trace = await readTrace(tiers.fixture.reader, taskId, { cold: tiers.cold })
    expect(trace.verified).toBe(false)
    expect(trace.findings).toMatchObject([{ rule: 'RECORD_HASH', seq: FIRST_HOP + 3 }])
  })

  test('T22 a bundle that is gone is located, by a trace too', async () => {
    await rm(await touch(ENTRIES))
    const found = await rules()
    expect(found).toEqual(expect.arrayContaining(['TILE_MISSING:256', 'RECORD_SEQ:256']))
    const trace = await readTrace(tiers.fixture.reader, taskId, { cold: tiers.cold })
    expect(trace).toMatchObject({ verified: false, findings: [{ rule: 'TILE_MISSING', seq: 256 }] })
  })

  test('T22 two bundles that changed places are located', async () => {
    const [one, other] = [await touch('tile/entries/000'), await touch(ENTRIES)]
    const kept = await readFile(one)
    await copyFile(other, one)
    await writeFile(other, kept)
    expect(await rules()).toEqual(expect.arrayContaining(['RECORD_HASH:0', 'RECORD_COLUMNS:0']))
  })

  test('T22 a bundle that was cut off is located', async () => {
    const path = await touch(ENTRIES)
    await writeFile(path, (await readFile(path)).subarray(0, -20))
    expect(await rules()).toEqual(expect.arrayContaining(['TILE_UNREADABLE:256']))
  })

  test('T23 an edited hash tile is located by its bundle', async () => {
    await editHash(7, Buffer.alloc(32, 7))
    expect(await rules()).toEqual(expect.arrayContaining(['RECORD_HASH:263', 'TILE_HASH:256']))
  })

  test('T23 a hash tile that was edited with its bundle is located by the tile above, root and index', async () => {
    const at = FIRST_HOP + 3 - 256
    await editHash(at, await editEntry(at, cheaper))
    const found = await rules()
    const seq = FIRST_HOP + 3
    expect(found).toEqual(expect.arrayContaining([`RECORD_INDEX:${seq}`, `RECORD_LINK:${seq + 1}`]))
    expect(found.some((rule) => rule.startsWith('SEAL_ROOT:'))).toBe(true)
    const trace = await readTrace(tiers.fixture.reader, taskId, { cold: tiers.cold })
    const inTrace = trace.findings.map(({ rule }) => rule)
    expect(inTrace).toEqual(expect.arrayContaining(['TILE_HASH', 'RECORD_INDEX']))
  })

  test('payloads that are gone are located', async () => {
    await rm(await touch('payload/001.zst'))
    expect(await rules()).toEqual(
      expect.arrayContaining(['TILE_MISSING:256', 'PAYLOAD_MISSING:256']),
    )
  })

  test('the scrubber finds the same', async () => {
    await editEntry(FIRST_HOP + 3 - 256, cheaper)
    const { batchKeys, sealKey } = tiers
    const { findings } = await scrubPiece(undefined, {
      pool: tiers.fixture.reader,
      cold: tiers.cold,
      vault: tiers.vault,
      batchKeys,
      sealKey,
      records: 1_000,
      now: () => new Date(),
    })
    expect(findings.map(({ seq, rule }) => `${rule}:${seq}`)).toContain(
      `RECORD_HASH:${FIRST_HOP + 3}`,
    )
  })

  test('an archiver refuses to go on from hash tiles that do not lead to the seal', async () => {
    await writeFile(await touch('tile/1/000.p/3'), Buffer.alloc(96, 7))
    const archiver = await tiers.startArchiver()
    await eventually(() => archiver.output().includes('"audit.tamper_detected"'), {
      deadlineMs: 30_000,
      describe: () => archiver.output(),
    })
    expect((await fetch(`${opsUrl(archiver)}/readyz`)).status).toBe(503)
    await archiver.stop()
  })

  test('without a cold store nothing is called verified', async () => {
    const trace = await readTrace(tiers.fixture.reader, taskId)
    expect(trace).toMatchObject({ verified: false, findings: [{ rule: 'TILE_MISSING' }] })
  })
})
