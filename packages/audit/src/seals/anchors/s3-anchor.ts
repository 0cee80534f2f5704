// An anchor in an S3 bucket: each checkpoint an object that nobody can replace, or delete before its time.
import { tlsFailure } from '@baton/http/client'
import { NO_TLS, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { createS3Client } from '../../s3-client.ts'
import { readAnchored } from './anchor.ts'
import type { Anchor, AnchoredLog } from './anchor.ts'

export interface S3AnchorOptions {
  readonly bucket: string
  readonly region: string
  /** Another service than AWS; its buckets stand in the path. */
  readonly endpoint?: string | undefined
  /** How long COMPLIANCE mode keeps each object from everybody, its owner included. */
  readonly lockDays: number
  /** Who vouches for an endpoint, and whether it may be plain text. */
  readonly tls?: Tls | undefined
  readonly now?: () => number
}

const DAY_MS = 86_400_000
const TIMEOUT_MS = 5_000
/** Sizes are written as what is left to this, so that the newest checkpoint is listed first. */
const SIZE_END = 10 ** 15
const DIGITS = 15

/** Loads the SDK, which is large; nothing else does. Credentials come from the SDK's own chain. */
export async function loadS3Anchor(
  options: S3AnchorOptions,
): Promise<(log: AnchoredLog) => Anchor> {
  const { bucket, region, endpoint, lockDays, now = Date.now, tls = NO_TLS } = options
  const sdk = await import('@aws-sdk/client-s3')
  const client = createS3Client(sdk, {
    region,
    endpoint,
    setting: 'BATON_SEAL_S3_ENDPOINT',
    attemptsMax: 2,
    requestMs: TIMEOUT_MS,
    connectMs: TIMEOUT_MS,
    tls,
  })
  const folderOf = async (log: AnchoredLog) => `${(await log()).origin}/checkpoints/`

  const read = async (name: string): Promise<string> => {
    const answer = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: name }))
    return (await answer.Body?.transformToString()) ?? ''
  }
  const newest = async (folder: string): Promise<string | undefined> => {
    const first = { Bucket: bucket, Prefix: folder, MaxKeys: 1 }
    const name = (await client.send(new sdk.ListObjectsV2Command(first))).Contents?.[0]?.Key
    return name === undefined ? undefined : read(name)
  }
  const put = (name: string, note: string) =>
    client.send(
      new sdk.PutObjectCommand({
        Bucket: bucket,
        Key: name,
        Body: note,
        ContentType: 'text/plain; charset=utf-8',
        IfNoneMatch: '*',
        ObjectLockMode: 'COMPLIANCE',
        ObjectLockRetainUntilDate: new Date(now() + lockDays * DAY_MS),
      }),
    )
  const guarded = <Answer>(work: Promise<Answer>): Promise<Answer> =>
    work.catch((cause: unknown) => Promise.reject(unavailable(bucket, cause)))

  return (log) => {
    const latest = async () => {
      const note = await guarded(newest(await folderOf(log)))
      return note === undefined ? undefined : readAnchored(note, await log())
    }
    const publish: Anchor['publish'] = async ({ note, size }) => {
      const known = await latest()
      if (known !== undefined && known.size > size) {
        return { kind: 'conflict', message: `the bucket has seen size ${known.size} already` }
      }
      const name = `${await folderOf(log)}${String(SIZE_END - size).padStart(DIGITS, '0')}`
      const isStored = await guarded(put(name, note).then(() => true, isPresent))
      if (isStored || (await guarded(read(name))) === note) return { kind: 'kept', note }
      return { kind: 'conflict', message: `the bucket has another checkpoint of size ${size}` }
    }
    return { name: `s3 ${bucket}`, latest, publish }
  }
}

/** An object stands there already; anything else is an error. */
function isPresent(error: unknown): false {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
  if (status === 412) return false
  throw error
}

function unavailable(bucket: string, cause: unknown) {
  const refused = tlsFailure(cause, 'the bucket')
  const why = refused === undefined ? '' : `: ${refused.message}`
  return transient(
    'BATON_ANCHOR_UNAVAILABLE',
    `the bucket ${bucket} does not keep checkpoints${why}`,
    {
      cause,
      fix:
        refused?.fix ??
        'Check bucket, region and credentials, and that Object Lock is enabled; sealing goes on meanwhile.',
    },
  )
}
