// A cold store in an S3 bucket: conditional writes, and retention by Object Lock where it is wanted.
import type * as Sdk from '@aws-sdk/client-s3'
import { NO_TLS, permanent } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { createS3Client } from '../s3-client.ts'
import { coldStoreUnavailable, kindOf } from './cold-store.ts'
import type { ColdStore, ObjectKind } from './cold-store.ts'
import { OBJECT_BYTES_MAX, pack, unpack } from './packing.ts'
import type { Packing } from './packing.ts'

export interface S3Options {
  readonly bucket: string
  readonly region: string
  /** Another service than AWS; buckets then stand in the path. */
  readonly endpoint?: string | undefined
  /** Locks every object in COMPLIANCE mode: nobody can delete it before. */
  readonly lockDays?: number | undefined
  /** Who vouches for an endpoint, and whether it may be plain text. */
  readonly tls?: Tls
  readonly now?: () => Date
}

const ATTEMPTS_MAX = 3
const TIMEOUT_MS = 30_000
const CONNECT_MS = 5_000
const DAY_MS = 86_400_000

const BYTES = 'application/octet-stream'
const FOR_GOOD = 'max-age=31536000, immutable'

interface Form {
  readonly packing: Packing
  /** As C2SP tlog-tiles wants it of whoever serves a log: a public bucket is one. */
  readonly headers: { readonly ContentType: string; readonly CacheControl: string }
}

/** Gzip is what tlog-tiles lets a log answer entry bundles in without being asked for it. */
const FORMS: Readonly<Record<ObjectKind, Form>> = {
  checkpoint: {
    packing: 'plain',
    headers: { ContentType: 'text/plain; charset=utf-8', CacheControl: 'max-age=5' },
  },
  hashes: { packing: 'plain', headers: { ContentType: BYTES, CacheControl: FOR_GOOD } },
  entries: { packing: 'gzip', headers: { ContentType: BYTES, CacheControl: FOR_GOOD } },
  payloads: { packing: 'zstd', headers: { ContentType: BYTES, CacheControl: FOR_GOOD } },
}

/**
 * Loads the SDK, which is large; nothing else does. Connects with the first call. Credentials come from
 * the SDK's own chain: environment, profile, instance role.
 */
export function createS3ColdStore(options: S3Options): ColdStore {
  const { bucket, lockDays, now = () => new Date() } = options
  let opened: Promise<Opened> | undefined
  const open = () => (opened ??= openClient(options))
  const lock = () =>
    lockDays === undefined
      ? {}
      : {
          ObjectLockMode: 'COMPLIANCE' as const,
          ObjectLockRetainUntilDate: new Date(now().getTime() + lockDays * DAY_MS),
        }
  return {
    description: `bucket ${bucket}`,
    async putIfAbsent(name, bytes) {
      const { sdk, client } = await open()
      const object = { ...(await bodyOf(name, bytes)), Bucket: bucket, IfNoneMatch: '*' }
      try {
        await client.send(new sdk.PutObjectCommand({ ...object, ...lock() }))
        return 'stored'
      } catch (error) {
        if (statusOf(error) === 412) return 'present'
        throw failed(error, 'take an object')
      }
    },
    async replace(name, bytes) {
      const { sdk, client } = await open()
      const object = { ...(await bodyOf(name, bytes)), Bucket: bucket }
      try {
        // Without a lock: it says nothing that the objects do not, and each one would stay beside the next.
        await client.send(new sdk.PutObjectCommand(object))
      } catch (error) {
        throw failed(error, 'take an object')
      }
    },
    async get(name, bytesMax = OBJECT_BYTES_MAX) {
      const { sdk, client } = await open()
      try {
        const answer = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: name }))
        const bytes = await answer.Body?.transformToByteArray()
        return bytes && (await unpack(packingOf(answer.ContentEncoding), bytes, bytesMax))
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return undefined
        throw failed(error, 'give an object')
      }
    },
    async list(prefix) {
      const { sdk, client } = await open()
      try {
        const names: string[] = []
        const pages = sdk.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix })
        for await (const page of pages) {
          names.push(...(page.Contents ?? []).flatMap(({ Key }) => Key ?? []))
        }
        return names.toSorted()
      } catch (error) {
        throw failed(error, 'list its objects')
      }
    },
    async remove(names) {
      const { sdk, client } = await open()
      try {
        for (const Key of names) {
          await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key }))
        }
      } catch (error) {
        throw failed(error, 'remove objects')
      }
    },
  }
}

async function bodyOf(name: string, bytes: Uint8Array) {
  const { packing, headers } = FORMS[kindOf(name)]
  const encoding = packing === 'plain' ? {} : { ContentEncoding: packing }
  return { Key: name, Body: await pack(packing, bytes), ...encoding, ...headers }
}

/** Entry bundles were zstd once. Some services keep what only the transfer was encoded in. */
const packingOf = (encoding: string | undefined): Packing =>
  PACKINGS.find((packing) => encoding?.split(/, */).includes(packing)) ?? 'plain'

const PACKINGS: readonly Packing[] = ['gzip', 'zstd']

interface Opened {
  readonly sdk: typeof Sdk
  readonly client: Sdk.S3Client
}

async function openClient({ region, endpoint, tls = NO_TLS }: S3Options): Promise<Opened> {
  const sdk = await import('@aws-sdk/client-s3')
  const client = createS3Client(sdk, {
    region,
    endpoint,
    setting: 'BATON_COLD_S3_ENDPOINT',
    attemptsMax: ATTEMPTS_MAX,
    requestMs: TIMEOUT_MS,
    connectMs: CONNECT_MS,
    tls,
  })
  return { sdk, client }
}

const statusOf = (error: unknown): number =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0

function failed(error: unknown, what: string) {
  const status = statusOf(error)
  if (status !== 401 && status !== 403 && status !== 404) return coldStoreUnavailable(what, error)
  const message = `the bucket of the cold store does not ${what} (${status})`
  return permanent('BATON_COLD_STORE_REFUSED', message, {
    cause: error,
    fix: 'Check bucket, region and credentials, and that they may put, get, list and, for expiry, delete.',
  })
}
