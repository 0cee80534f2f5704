// A bucket holds what a folder of backups holds, by the same names: it is copied there as it grows, and fetched where the folder is gone.
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openBucket } from '@baton/audit'
import type { Bucket } from '@baton/audit'
import { BatonError, permanent, readTls, replaceFile } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { bytesText, count, counted } from '../terminal/figures.ts'
import { findBackup, isBackupId } from './backup-folder.ts'
import { readPlain, requirePlain } from './plain-files.ts'

const SCHEME = 's3://'
const MANIFEST = 'manifest.json'
const JOURNAL = 'erasures.jsonl'
const AT_ONCE = 8

/** Every name that a folder of backups has; none leads out of it. */
const NAME = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)*$/
/** What is written to again under its name. */
const MOVES = /(?:^erasures\.jsonl|\/followed\.json|\.partial|\/checkpoint)$/

export const isBucket = (given: string | undefined): given is string =>
  given?.startsWith(SCHEME) === true

interface Place {
  readonly bucket: Bucket
  /** Ends with a slash, or is empty. */
  readonly prefix: string
}

/** Throws BATON_USAGE. */
async function openPlace({ settings }: Pick<Context, 'settings'>, url: string): Promise<Place> {
  const [, bucket = '', path = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(url) ?? []
  if (bucket === '') throw notBucket(url)
  const prefix = path.replace(/\/+$/, '')
  const opened = await openBucket({
    bucket,
    region: settings.BATON_BACKUP_S3_REGION,
    endpoint: settings.BATON_BACKUP_S3_ENDPOINT,
    setting: 'BATON_BACKUP_S3_ENDPOINT',
    lockDays: settings.BATON_BACKUP_S3_LOCK_DAYS,
    tls: readTls(settings),
  })
  return { bucket: opened, prefix: prefix === '' ? '' : `${prefix}/` }
}

export interface Pushed {
  readonly objects: number
  readonly bytes: number
}

/** Sends what the bucket has not yet, whenever it is called. */
export type Pusher = () => Promise<Pushed>

/**
 * Cold objects and write-ahead log first, then each backup with its manifest last, and the erasures last of all: whatever is seen there
 * meanwhile is whole, and its journal is older than nothing of it.
 */
export async function createPusher(
  { settings, output }: Pick<Context, 'settings' | 'output'>,
  root: string,
  url: string,
): Promise<Pusher> {
  const { bucket, prefix } = await openPlace({ settings }, url)
  const there = new Map<string, string>()
  const note = sentNote(root, url)
  const sent = await readSent(note)
  for (const { name, bytes } of await bucket.list(prefix)) {
    const own = name.slice(prefix.length)
    if (!MOVES.test(own) && sent[own] === String(bytes)) there.set(own, String(bytes))
  }
  return async () => {
    let objects = 0
    let bytes = 0
    for (const batch of await namesInOrder(root)) {
      for (let at = 0; at < batch.length; at += AT_ONCE)
        await Promise.all(
          batch.slice(at, at + AT_ONCE).map(async (name) => {
            const path = join(root, name)
            const found = await stat(path).catch(pruned)
            const mark =
              found && (MOVES.test(name) ? `${found.size} ${found.mtimeMs}` : String(found.size))
            if (found === undefined || there.get(name) === mark) return
            await bucket.putFile(
              `${prefix}${name}`,
              path,
              MOVES.test(name) ? 'replaceable' : 'for good',
            )
            there.set(name, mark ?? '')
            objects += 1
            bytes += found.size
            output.progress(`bucket: ${count(objects)} objects, ${bytesText(bytes)}`)
          }),
        )
    }
    const lasting = [...there].filter(([name]) => !MOVES.test(name))
    if (objects > 0) await replaceFile(note, JSON.stringify(Object.fromEntries(lasting)))
    return { objects, bytes }
  }
}

/** One for each bucket and prefix. */
const sentNote = (root: string, url: string): string =>
  join(root, `.sent-${createHash('sha256').update(url).digest('hex').slice(0, 12)}.json`)

/**
 * What was sent from here, by name, with its size. The bucket's own word is not enough: whoever may put could have put something else
 * there first, as long, and what is real would never be sent. Without this note all of it is sent again.
 */
async function readSent(note: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return Object(JSON.parse((await readPlain(note)).toString())) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** One that was deleted meanwhile need not be sent any more. */
function pruned(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** Each batch only once those before it are there. */
async function namesInOrder(root: string): Promise<readonly (readonly string[])[]> {
  const cold = await namesBelow(root, 'cold')
  const isHead = (name: string): boolean => name.endsWith('/checkpoint')
  const wal = await namesBelow(root, 'wal')
  const isClaim = (name: string): boolean => name.endsWith('/followed.json')
  const ids = (await readdir(root)).filter(isBackupId).toSorted()
  const backups: (readonly string[])[] = []
  for (const id of ids) {
    const names = await namesBelow(root, id)
    backups.push(
      names.filter((name) => name !== `${id}/${MANIFEST}`),
      names.filter((name) => name === `${id}/${MANIFEST}`),
    )
  }
  return [
    cold.filter((name) => !isHead(name)),
    cold.filter(isHead),
    wal.filter((name) => !isClaim(name)),
    wal.filter(isClaim),
    ...backups,
    [JOURNAL],
  ]
}

async function namesBelow(root: string, folder: string): Promise<readonly string[]> {
  await requirePlain(join(root, folder))
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? [] : Promise.reject(error)),
  )
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter((name) => NAME.test(name) && !name.endsWith('.draft'))
}

interface Fetching {
  readonly from: string
  readonly which: string | undefined
  /** Whether only the manifests are wanted, of all of them. */
  readonly manifests?: boolean
}

/**
 * Runs `work` on a folder of the home into which the backup was fetched, with everything that was kept since. It is deleted where that
 * ended well, and kept for the next command where it did not.
 */
export async function withFetched(
  context: Context,
  { from, which, manifests = false }: Fetching,
  work: (root: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { home, output } = context
  const place = await openPlace(context, from)
  const root = join(home, 'from-bucket')
  await rm(root, { recursive: true, force: true })
  await mkdir(root, { recursive: true, mode: 0o700 })
  const listed = (await place.bucket.list(place.prefix))
    .map(({ name, bytes }) => ({ name: name.slice(place.prefix.length), bytes }))
    .filter(({ name }) => NAME.test(name))
  const there = new Set(listed.map(({ name }) => name))
  const ids = listed
    .flatMap(({ name }) => (name.endsWith(`/${MANIFEST}`) ? [dirname(name)] : []))
    .filter(isBackupId)
    .toSorted()
  const id = which ?? ids.at(-1)
  if (!manifests && (id === undefined || !ids.includes(id))) throw notThere(from, which)
  let bytes = 0
  const fetch = async (names: readonly string[]): Promise<void> => {
    for (let at = 0; at < names.length; at += AT_ONCE)
      await Promise.all(
        names.slice(at, at + AT_ONCE).map(async (name) => {
          const path = join(root, name)
          await mkdir(dirname(path), { recursive: true, mode: 0o700 })
          await place.bucket.getFile(`${place.prefix}${name}`, path)
          bytes += (await stat(path)).size
          output.progress(`bucket: ${bytesText(bytes)} fetched`)
        }),
      )
  }
  await fetch(
    (manifests ? ids : ids.filter((one) => one === id)).map((one) => `${one}/${MANIFEST}`),
  )
  if (!manifests) {
    const { manifest } = await findBackup(root, id)
    await fetch(manifest.files.map(({ path }) => `${manifest.id}/${path}`))
    const wals = manifest.servers.map(({ systemId }) => `wal/${systemId}/`)
    const shared = listed
      .map(({ name }) => name)
      // What was whole later has its own object.
      .filter((name) => !there.has(name.replace(/\.partial$/, '')) || !name.endsWith('.partial'))
      .filter(
        (name) =>
          name === JOURNAL || name.startsWith('cold/') || wals.some((wal) => name.startsWith(wal)),
      )
    await fetch(shared)
    output.endProgress()
    output.step(
      'passed',
      'fetched',
      `backup ${manifest.id} and ${counted(shared.length, 'object')} that all share, ${bytesText(bytes)}`,
    )
  }
  output.endProgress()
  const exitCode = await work(root)
  if (exitCode === EXIT.fine || manifests) await rm(root, { recursive: true, force: true })
  return exitCode
}

/** Where it fails it says why, once, and tries again. */
export async function pushEvery(
  { output }: Pick<Context, 'output'>,
  push: Pusher,
  { everyMs, wait }: { readonly everyMs: number; readonly wait: (ms: number) => Promise<boolean> },
): Promise<void> {
  let told = ''
  while (await wait(everyMs)) {
    const why = await push().then(
      () => '',
      (error: unknown) => (error instanceof BatonError ? error.message : String(error)),
    )
    if (why !== told)
      output.step(
        why === '' ? 'passed' : 'unknown',
        'bucket',
        why === '' ? 'takes what comes' : why,
      )
    told = why
  }
}

const notBucket = (url: string) =>
  permanent('BATON_USAGE', `${url} names no bucket`, { fix: 'Write it as s3://BUCKET/PREFIX.' })

const notThere = (from: string, which: string | undefined) =>
  permanent(
    'BATON_BACKUP_UNKNOWN',
    `there is no ${which === undefined ? 'backup' : `backup ${which}`} in ${from}`,
    {
      fix: '`baton backup ls --to s3://BUCKET/PREFIX` lists those of a bucket.',
    },
  )
