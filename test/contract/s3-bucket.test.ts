// A file comes out of a bucket as it went in, in however many parts, and is locked where that is wanted.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBucket } from '@baton/audit'
import type { Bucket } from '@baton/audit'
import { NO_TLS } from '@baton/runtime'
import { startFakeS3 } from '@baton/testkit'
import type { FakeS3 } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

const PART_BYTES = 1_000
let folder: string
let s3: FakeS3
let bucket: Bucket

beforeAll(async () => {
  process.env['AWS_ACCESS_KEY_ID'] = 'test'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'test'
  folder = await mkdtemp(join(tmpdir(), 'baton-bucket-'))
  s3 = await startFakeS3()
  bucket = await openBucket({
    bucket: 'backups',
    region: 'us-east-1',
    endpoint: s3.url,
    setting: 'BATON_BACKUP_S3_ENDPOINT',
    lockDays: 30,
    tls: NO_TLS,
    partBytes: PART_BYTES,
  })
})
afterAll(async () => {
  await s3.close()
  await rm(folder, { recursive: true, force: true })
})

it.each([0, 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES])('a file of %i bytes', async (size) => {
  const bytes = randomBytes(size)
  const path = join(folder, `sent-${size}`)
  await writeFile(path, bytes)
  await bucket.putFile(`prod/${size}`, path, 'for good')
  await bucket.getFile(`prod/${size}`, `${path}-back`)
  expect((await readFile(`${path}-back`)).equals(bytes)).toBe(true)
  expect(await bucket.list(`prod/${size}`)).toContainEqual({ name: `prod/${size}`, bytes: size })
})

it('locks what stays, and nothing that is written to again', async () => {
  const path = join(folder, 'small')
  await writeFile(path, 'small')
  await bucket.putFile('locked', path, 'for good')
  await bucket.putFile('moving', path, 'replaceable')
  expect(s3.objects.get('backups/locked')?.lockedUntil).not.toBeNull()
  expect(s3.objects.get('backups/moving')?.lockedUntil).toBeNull()
})

it('says which bucket does what not', async () => {
  await expect(bucket.getFile('nothing', join(folder, 'none'))).rejects.toThrow(
    expect.objectContaining({ code: 'BATON_BACKUP_BUCKET' }),
  )
})
