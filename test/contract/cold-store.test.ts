// What every cold store keeps to: an object is written once, comes back as it was, and is listed by its prefix.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openColdStore } from '@baton/audit'
import type { ColdStore } from '@baton/audit'
import { startFakeS3 } from '@baton/testkit'
import type { FakeS3 } from '@baton/testkit'

let folder: string
let s3: FakeS3
const stores: Record<string, ColdStore> = {}
const settings = {
  BATON_COLD_FOLDER: undefined,
  BATON_COLD_S3_BUCKET: undefined,
  BATON_COLD_S3_REGION: 'us-east-1',
  BATON_COLD_S3_ENDPOINT: undefined,
  BATON_COLD_S3_LOCK_DAYS: 0,
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-cold-'))
  s3 = await startFakeS3()
  process.env['AWS_ACCESS_KEY_ID'] = 'test'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'test'
  const inS3 = { ...settings, BATON_COLD_S3_BUCKET: 'cold', BATON_COLD_S3_ENDPOINT: s3.url }
  stores['folder'] = openColdStore({ ...settings, BATON_COLD_FOLDER: folder }) as ColdStore
  stores['bucket'] = openColdStore(inS3) as ColdStore
  stores['locked'] = openColdStore({
    ...inS3,
    BATON_COLD_S3_BUCKET: 'locked',
    BATON_COLD_S3_LOCK_DAYS: 400,
  }) as ColdStore
})
afterAll(async () => {
  await s3?.close()
  await rm(folder, { recursive: true, force: true })
})

const bytes = (text: string): Uint8Array => Buffer.from(text)
const ENTRY = 'baton/test/1/s0/tile/entries/000'
const HASH = 'baton/test/1/s0/tile/0/000'
const PAYLOAD = 'baton/test/1/s0/payload/000'
const HEAD = 'baton/test/1/s0/checkpoint'

describe.each(['folder', 'bucket', 'locked'])('a cold store: %s', (name) => {
  test('keeps what was put first, under its name', async () => {
    const store = stores[name] as ColdStore
    expect(await store.get(ENTRY)).toBeUndefined()
    expect(await store.putIfAbsent(ENTRY, bytes('first'))).toBe('stored')
    expect(await store.putIfAbsent(ENTRY, bytes('second'))).toBe('present')
    expect(await store.putIfAbsent(HASH, bytes('hash'))).toBe('stored')
    expect(Buffer.from((await store.get(ENTRY)) ?? '').toString()).toBe('first')
    expect(await store.list('baton/test/1/s0/')).toEqual([HASH, ENTRY])
    expect(await store.list('baton/test/1/s0/tile/entries/')).toEqual([ENTRY])
    expect(await store.list('baton/other/')).toEqual([])
  })

  test('replaces a signed tree head, and nothing else', async () => {
    const store = stores[name] as ColdStore
    for (const text of ['older', 'newer', 'newer']) {
      await store.replace(HEAD, bytes(text))
      expect(Buffer.from((await store.get(HEAD)) ?? '').toString()).toBe(text)
    }
  })

  test('says of damaged bytes that they are damaged', async () => {
    const store = stores[name] as ColdStore
    const large = bytes('0123456789'.repeat(1_000))
    await store.putIfAbsent(PAYLOAD, large)
    expect(await store.get(PAYLOAD)).toEqual(large)
    expect(await store.get(PAYLOAD, 100)).toBeNull()
  })

  test('of twenty who put at once, one has stored', async () => {
    const store = stores[name] as ColdStore
    const put = (at: number) => store.putIfAbsent(`${ENTRY}.p/7`, bytes(String(at)))
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => put(at)))
    expect(answers.filter((answer) => answer === 'stored')).toHaveLength(1)
  })
})

test.each(['folder', 'bucket'])('removing is safe to repeat: %s', async (name) => {
  const store = stores[name] as ColdStore
  await store.remove([HASH])
  await store.remove([HASH])
  expect(await store.get(HASH)).toBeUndefined()
})

test('a locked object cannot be removed before its time', async () => {
  await expect(stores['locked']?.remove([ENTRY])).rejects.toMatchObject({
    code: expect.stringMatching(/^BATON_COLD_STORE_/) as string,
  })
})

test('a folder is for its owner alone, leaves no drafts, and no name leads out of it', async () => {
  const store = stores['folder'] as ColdStore
  const path = join(folder, ENTRY)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(join(folder, 'baton'))).mode & 0o777).toBe(0o700)
  const files = await readdir(folder, { recursive: true })
  expect(files.filter((file) => file.includes('.draft'))).toEqual([])
  for (const name of ['../outside', 'baton/../../outside', '/outside', 'baton/.hidden']) {
    await expect(store.putIfAbsent(name, bytes('x'))).rejects.toMatchObject({
      code: 'BATON_COLD_NAME_INVALID',
    })
    await expect(store.get(name)).rejects.toMatchObject({ code: 'BATON_COLD_NAME_INVALID' })
  }
})

test('tools of others read a folder as it stands there: bundles are plain, and what was packed before is still read', async () => {
  const store = stores['folder'] as ColdStore
  const [plain, packed] = [`${ENTRY}.p/8`, `${ENTRY}.p/9`]
  await store.putIfAbsent(plain, bytes('as it is'))
  expect((await readFile(join(folder, plain))).toString()).toBe('as it is')
  const former = join(folder, `${packed}.zst`)
  await writeFile(former, zstdCompressSync(bytes('as it was')))
  expect(Buffer.from((await store.get(packed)) ?? '').toString()).toBe('as it was')
  expect(await store.putIfAbsent(packed, bytes('as it was'))).toBe('present')
  expect(await readdir(join(folder, `${ENTRY}.p`))).toEqual(['7', '8', '9.zst'])
  // As `zstd -d` makes of it.
  await writeFile(join(folder, packed), bytes('as it was'))
  expect(await store.list(`${ENTRY}.p/`)).toEqual([7, 8, 9].map((width) => `${ENTRY}.p/${width}`))
  await store.remove([packed])
  expect(await readdir(join(folder, `${ENTRY}.p`))).toEqual(['7', '8'])
})

test('tools of others read a bucket over HTTP, as C2SP tlog-tiles has it', async () => {
  const store = stores['bucket'] as ColdStore
  const name = `${ENTRY}.p/8`
  await store.putIfAbsent(name, bytes('as it is'))
  await store.replace(HEAD, bytes('head'))
  const { headers, bytes: stored } = s3.objects.get(`cold/${name}`) ?? { headers: {} }
  expect(headers).toEqual({
    'content-encoding': 'gzip',
    'content-type': 'application/octet-stream',
    'cache-control': 'max-age=31536000, immutable',
  })
  expect(gunzipSync(stored ?? '').toString()).toBe('as it is')
  expect(await (await fetch(`${s3.url}/cold/${name}`)).text()).toBe('as it is')
  expect(s3.objects.get(`cold/${HEAD}`)?.headers).toEqual({
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'max-age=5',
  })
  const packed = zstdCompressSync(bytes('as it was'))
  await fetch(`${s3.url}/cold/${ENTRY}.p/9`, {
    method: 'PUT',
    headers: { 'content-encoding': 'zstd' },
    body: packed,
  })
  expect(Buffer.from((await store.get(`${ENTRY}.p/9`)) ?? '').toString()).toBe('as it was')
})

test('two stores at once are refused', () => {
  const both = { ...settings, BATON_COLD_FOLDER: folder, BATON_COLD_S3_BUCKET: 'cold' }
  expect(() => openColdStore(both)).toThrow(/two cold stores/)
})
