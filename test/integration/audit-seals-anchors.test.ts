// Every anchor keeps a seal once, tells what it knows, and objects to a log that is shorter or another one.
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFileAnchor, loadS3Anchor } from '@baton/audit'
import type { Anchor, AnchoredCheckpoint } from '@baton/audit'
import {
  createNoteSigner,
  encodeUtf8,
  formatCheckpoint,
  hashLeaf,
  signNote,
  singleSealKey,
} from '@baton/ledger'
import { startFakeS3 } from '@baton/testkit'
import type { FakeS3 } from '@baton/testkit'
import { privateKey } from './audit-seals-fixture.ts'

const ORIGIN = 'example.com/seals'
const signer = createNoteSigner({ name: ORIGIN, pkcs8: privateKey() })
const log = async () => ({ origin: ORIGIN, keys: singleSealKey(signer.key.publicKey) })
const stranger = createNoteSigner({ name: ORIGIN, pkcs8: privateKey() })

const checkpointOf = (size: number, content = 'ours', by = signer): AnchoredCheckpoint => {
  const root = hashLeaf(encodeUtf8(`${content} ${size}`))
  const note = signNote(formatCheckpoint({ origin: ORIGIN, size, root }), [by])
  return { note, size, root, prove: async () => [] }
}

let folder = ''
let s3: FakeS3

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-anchors-'))
  s3 = await startFakeS3()
  process.env['AWS_ACCESS_KEY_ID'] = 'test'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'test'
})
afterAll(async () => {
  await s3.close()
  await rm(folder, { recursive: true, force: true })
})

let made = 0
const file = () => join(folder, `anchor-${(made += 1)}.jsonl`)
const bucket = () =>
  loadS3Anchor({
    bucket: `bucket-${(made += 1)}`,
    region: 'eu-central-1',
    endpoint: s3.url,
    lockDays: 400,
  }).then((open) => open(log))
const KINDS: readonly (readonly [string, () => Promise<Anchor>])[] = [
  ['a file', async () => createFileAnchor(file(), log)],
  ['a bucket with Object Lock', bucket],
]

describe.each(KINDS)('%s', (_, open) => {
  test('knows nothing first, then the newest, and keeps the same one once', async () => {
    const anchor = await open()
    expect(await anchor.latest()).toBeUndefined()
    for (const size of [1, 2, 9, 10, 10]) {
      expect(await anchor.publish(checkpointOf(size))).toMatchObject({ kind: 'kept' })
      expect(await anchor.latest()).toMatchObject({ size, root: checkpointOf(size).root })
    }
  })

  test('objects to a shorter log, and to another one of the same size', async () => {
    const anchor = await open()
    await anchor.publish(checkpointOf(5))
    expect(await anchor.publish(checkpointOf(4))).toMatchObject({ kind: 'conflict' })
    expect(await anchor.publish(checkpointOf(5, 'forged'))).toMatchObject({ kind: 'conflict' })
    expect(await anchor.latest()).toMatchObject({ size: 5, root: checkpointOf(5).root })
  })
})

test('a file that was emptied or lost is not begun anew, unless nothing is said to have been kept', async () => {
  const path = file()
  let kept = 0
  const anchor = createFileAnchor(path, log, () => kept)
  await anchor.publish(checkpointOf(4))
  kept = 4
  await writeFile(path, '')
  const emptied = await anchor.publish(checkpointOf(5))
  expect(emptied).toEqual({ kind: 'conflict', message: expect.stringContaining('had kept 4') })
  await rm(path)
  expect(await anchor.publish(checkpointOf(5))).toMatchObject({ kind: 'conflict' })
  kept = 0
  expect(await anchor.publish(checkpointOf(5))).toMatchObject({ kind: 'kept' })
})

test('a line that a crash cut off is passed over, and another key’s checkpoint is named', async () => {
  const path = file()
  const anchor = createFileAnchor(path, log)
  await anchor.publish(checkpointOf(1))
  await appendFile(path, '{"at":"2026-11-20T10:0')
  expect(await anchor.latest()).toMatchObject({ size: 1 })
  await anchor.publish(checkpointOf(2))
  expect(await anchor.latest()).toMatchObject({ size: 2 })
  expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(4)
  await writeFile(path, `${JSON.stringify({ note: checkpointOf(3, 'ours', stranger).note })}\n`)
  await expect(anchor.latest()).rejects.toMatchObject({ code: 'BATON_ANCHOR_FOREIGN' })
})

test('objects in a bucket are locked for as long as was asked', async () => {
  const anchor = await bucket()
  await anchor.publish(checkpointOf(7))
  const [name = '', object] = [...s3.objects].at(-1) ?? []
  const days = (Date.parse(object?.lockedUntil ?? '') - Date.now()) / 86_400_000
  expect(Math.round(days)).toBe(400)
  expect((await fetch(`${s3.url}/${name}`, { method: 'DELETE' })).status).toBe(403)
})

test('an anchor that does not answer is a transient error', async () => {
  const open = await loadS3Anchor({
    bucket: 'away',
    region: 'eu-central-1',
    endpoint: 'http://127.0.0.1:1',
    lockDays: 1,
  })
  const away = open(log)
  await expect(away.publish(checkpointOf(1))).rejects.toMatchObject({
    code: 'BATON_ANCHOR_UNAVAILABLE',
  })
})
