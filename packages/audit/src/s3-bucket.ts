// Whole files in an S3 bucket, however large: what a folder of backups is copied to and fetched from.
import type * as Sdk from '@aws-sdk/client-s3'
import { createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { tlsFailure } from '@baton/http/client'
import { transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { createS3Client } from './s3-client.ts'

export interface BucketOptions {
  readonly bucket: string
  readonly region: string
  /** Another service than AWS; its buckets stand in the path. */
  readonly endpoint: string | undefined
  /** The name of its setting. */
  readonly setting: string
  /** Locks what `putFile` stores for good in COMPLIANCE mode; 0 for none. */
  readonly lockDays: number
  readonly tls: Tls
  /** A larger file is sent and fetched in parts of so many bytes. */
  readonly partBytes?: number
}

export interface BucketObject {
  readonly name: string
  readonly bytes: number
}

export interface Bucket {
  /** All that begin with the prefix. */
  list(prefix: string): Promise<readonly BucketObject[]>
  /** Stored as a whole or not at all when it resolves; what had the name is replaced, and stays as a version where the bucket keeps them. */
  putFile(name: string, path: string, how: 'for good' | 'replaceable'): Promise<void>
  /** Into a new file. */
  getFile(name: string, path: string): Promise<void>
}

const ATTEMPTS_MAX = 3
const TIMEOUT_MS = 30_000
const CONNECT_MS = 5_000
const DAY_MS = 86_400_000
/** A service takes at most 10,000 parts, so a file of 640 GB. */
const PART_BYTES = 67_108_864

/** Loads the SDK, which is large. Credentials come from its own chain. Each call throws BATON_BACKUP_BUCKET where the service fails. */
export async function openBucket(options: BucketOptions): Promise<Bucket> {
  const { bucket: Bucket, lockDays, region, endpoint, setting, tls } = options
  const { partBytes = PART_BYTES } = options
  const sdk = await import('@aws-sdk/client-s3')
  const client = createS3Client(sdk, {
    region,
    endpoint,
    setting,
    attemptsMax: ATTEMPTS_MAX,
    requestMs: TIMEOUT_MS,
    connectMs: CONNECT_MS,
    tls,
  })
  const guarded = <Answer>(what: string, work: Promise<Answer>): Promise<Answer> =>
    work.catch((cause: unknown) => Promise.reject(failed(Bucket, what, cause)))
  const lock = () =>
    lockDays === 0
      ? {}
      : {
          ObjectLockMode: 'COMPLIANCE' as const,
          ObjectLockRetainUntilDate: new Date(Date.now() + lockDays * DAY_MS),
        }
  return {
    list: (prefix) => guarded('list', listAll(sdk, client, { Bucket, Prefix: prefix })),
    putFile: (name, path, how) =>
      guarded(
        'take an object',
        put({ sdk, client, partBytes }, path, {
          Bucket,
          Key: name,
          ...(how === 'for good' ? lock() : {}),
        }),
      ),
    getFile: (name, path) =>
      guarded('give an object', get({ sdk, client, partBytes }, path, { Bucket, Key: name })),
  }
}

async function listAll(
  sdk: typeof Sdk,
  client: Sdk.S3Client,
  where: { readonly Bucket: string; readonly Prefix: string },
): Promise<readonly BucketObject[]> {
  const found: BucketObject[] = []
  for await (const { Contents = [] } of sdk.paginateListObjectsV2({ client }, where))
    for (const { Key: name, Size: bytes } of Contents)
      if (name !== undefined) found.push({ name, bytes: bytes ?? 0 })
  return found
}

interface Opened {
  readonly sdk: typeof Sdk
  readonly client: Sdk.S3Client
  readonly partBytes: number
}

type Target = Pick<
  Sdk.PutObjectCommandInput,
  'Bucket' | 'Key' | 'ObjectLockMode' | 'ObjectLockRetainUntilDate'
>

async function put(opened: Opened, path: string, target: Target): Promise<void> {
  const { sdk, client, partBytes } = opened
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  if (size > partBytes) return await putParts(opened, { file, size }, target)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0)
  await client.send(new sdk.PutObjectCommand({ ...target, Body: buffer.subarray(0, bytesRead) }))
}

/** What a failure leaves of it, the bucket's own rule for unfinished uploads deletes, where aborting fails too. */
async function putParts(
  { sdk, client, partBytes }: Opened,
  { file, size }: { readonly file: Awaited<ReturnType<typeof open>>; readonly size: number },
  target: Target,
): Promise<void> {
  const { Bucket, Key } = target
  const begun = await client.send(new sdk.CreateMultipartUploadCommand(target))
  const upload = { Bucket, Key, UploadId: begun.UploadId }
  try {
    const parts: Sdk.CompletedPart[] = []
    for (let at = 0; at < size; at += partBytes) {
      const length = Math.min(partBytes, size - at)
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, at)
      const PartNumber = parts.length + 1
      const sent = await client.send(
        new sdk.UploadPartCommand({ ...upload, PartNumber, Body: buffer }),
      )
      parts.push({
        PartNumber,
        ETag: sent.ETag,
        ...(sent.ChecksumCRC32 === undefined ? {} : { ChecksumCRC32: sent.ChecksumCRC32 }),
      })
    }
    await client.send(
      new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }),
    )
  } catch (error) {
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => undefined)
    throw error
  }
}

/** In pieces of one request each: however large it is, none takes longer than an attempt may. */
async function get(
  { sdk, client, partBytes }: Opened,
  path: string,
  where: { readonly Bucket: string; readonly Key: string },
): Promise<void> {
  const { ContentLength: size = 0, ETag: IfMatch } = await client.send(
    new sdk.HeadObjectCommand(where),
  )
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < size; at += partBytes) {
      const Range = `bytes=${at}-${Math.min(at + partBytes, size) - 1}`
      const { Body } = await client.send(new sdk.GetObjectCommand({ ...where, Range, IfMatch }))
      yield (await Body?.transformToByteArray()) ?? new Uint8Array()
    }
  }
  await pipeline(
    Readable.from(pieces()),
    createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
  )
  if ((await stat(path)).size !== size) throw new Error(`the object ended before its ${size} bytes`)
}

function failed(bucket: string, what: string, cause: unknown) {
  // A file of this machine that cannot be read or written says so itself.
  if (typeof (cause as NodeJS.ErrnoException).syscall === 'string' && 'path' in (cause as object))
    return cause
  const refused = tlsFailure(cause, 'the bucket')
  const why = refused?.message ?? (cause instanceof Error ? `${cause.name}: ${cause.message}` : '')
  return transient('BATON_BACKUP_BUCKET', `the bucket ${bucket} does not ${what}: ${why}`, {
    cause,
    fix:
      refused?.fix ??
      'Check its name, region, endpoint and credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or a profile), and that they may list, put and get; then run the command again: what is there already is not sent twice.',
  })
}
