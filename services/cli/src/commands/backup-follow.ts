// `backup follow`: keeps the write-ahead log of the servers beside their backups as it is written, so that a loss costs seconds.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { withLock } from '@baton/embedded'
import { dropSlot, followWal, identifyServer, withWalSender } from '@baton/postgres'
import type { WalFollowing } from '@baton/postgres'
import { BatonError, codeOf, permanent, transient } from '@baton/runtime'
import { backupRoot, listBackups, sharedPlaces } from '../backup/backup-folder.ts'
import type { ServerCopy, ServerName } from '../backup/backup-folder.ts'
import { createPusher, isBucket, pushEvery } from '../backup/bucket.ts'
import { requirePlain } from '../backup/plain-files.ts'
import { writeFollowed } from '../backup/followed.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withServers } from '../instance/databases.ts'
import type { Servers } from '../instance/databases.ts'
import { nextStep, quoted } from '../terminal/next-steps.ts'
import { takeRecorded } from './backup.ts'

interface FollowOptions {
  readonly to: string | undefined
  readonly slot: string
  /** Ends when everything is there that had been committed when it began. */
  readonly once?: boolean
  /** Lets the servers drop what they keep for it, and follows nothing. */
  readonly end?: boolean
}

const RETRY_MS = 2_000
/** How often one that runs for months says so in a log that nobody watches. */
const SAY_EVERY_MS = 60_000
const WRITE_EVERY_MS = 1_000

const TAKEN_AGAIN_AFTER_MS = 600_000

/**
 * Until it is told to end. What the servers do meanwhile, it waits for. Where there is no backup that the log could go on from, or the
 * server has dropped what came next, it takes one first.
 */
export async function followServers(context: Context, options: FollowOptions): Promise<ExitCode> {
  const { to } = options
  if (isBucket(to) && options.end !== true) return followToBucket(context, { ...options, to })
  const root = backupRoot(context, to)
  // An embedded server stays up for as long.
  return withServers(context, async (servers) => {
    if (options.end === true) return endFollowing(context, servers, options.slot)
    let takenAt: number | undefined
    for (;;) {
      try {
        const copies = await newestCopies(servers, root)
        return tell(context, root, await followAll(context, copies, { ...options, root }))
      } catch (error) {
        const isRecent = takenAt !== undefined && performance.now() - takenAt < TAKEN_AGAIN_AFTER_MS
        if (!STARTS_ANEW.has(codeOf(error)) || isRecent) throw error
        context.output.step('unknown', 'backup', `${(error as Error).message}: takes one now`)
        await takeRecorded(context, root)
        takenAt = performance.now()
      }
    }
  })
}

const PUSH_EVERY_MS = 30_000

/** Into the folder of this machine, and from there to the bucket: what is there is as much older as that takes. */
async function followToBucket(
  context: Context,
  options: FollowOptions & { readonly to: string },
): Promise<ExitCode> {
  const push = await createPusher(context, backupRoot(context, undefined), options.to)
  const ended = new AbortController()
  const wait = (ms: number): Promise<boolean> =>
    delay(ms, true, { signal: ended.signal }).catch(() => false)
  const pushing = pushEvery(context, push, { everyMs: PUSH_EVERY_MS, wait })
  try {
    return await followServers(context, { ...options, to: undefined })
  } finally {
    ended.abort()
    await pushing
    await push()
  }
}

const STARTS_ANEW = new Set(['BATON_BACKUP_WAL_GONE', 'BATON_BACKUP_UNKNOWN'])

async function followAll(
  context: Context,
  copies: readonly ServerCopy[],
  options: FollowOptions & { readonly root: string },
): Promise<readonly Kept[]> {
  const stop = new AbortController()
  const signal = AbortSignal.any([context.interrupt, stop.signal])
  // One line for all servers: each would replace that of the others.
  const covered = new Map<ServerName, Date>()
  const progress: Progress = (server, until) => {
    covered.set(server, until)
    const texts = [...covered].map(([name, at]) => `${name}: all until ${at.toISOString()}`)
    context.output.progress(texts.join(', '), SAY_EVERY_MS)
  }
  const all = copies.map((copy) =>
    followOne(context, copy, { ...options, signal, progress }).catch((error: unknown) => {
      // One that cannot be followed ends the others: half of it is no backup of the whole.
      stop.abort()
      throw error
    }),
  )
  await Promise.allSettled(all)
  return Promise.all(all)
}

function tell({ output }: Context, root: string, kept: readonly Kept[]): ExitCode {
  if (output.json) output.data(JSON.stringify(kept))
  for (const { server, flushed, coveredUntil } of kept)
    output.check(
      coveredUntil === null ? 'unknown' : 'passed',
      server,
      coveredUntil === null ? 'not caught up' : `all until ${coveredUntil}, at ${flushed ?? '?'}`,
    )
  output.next(nextStep(`restore drill --from ${quoted(root)}`))
  return kept.every(({ coveredUntil }) => coveredUntil !== null) ? EXIT.fine : EXIT.incomplete
}

/** Of each server the newest copy: the log is wanted from where that begins. Throws BATON_BACKUP_UNKNOWN. */
async function newestCopies(servers: Servers, root: string): Promise<readonly ServerCopy[]> {
  const newest = (await listBackups(root)).at(-1)?.manifest.servers
  if (newest === undefined) throw noBackup(root)
  for (const { name, systemId, timeline } of newest) {
    const there = await withWalSender(urlOf(servers, name), identifyServer)
    if (there.systemId !== systemId || there.timeline < timeline) throw otherServer(root, name)
  }
  return newest
}

const urlOf = ({ operationalUrl, auditUrl }: Servers, name: ServerName): string =>
  name === 'operational' ? operationalUrl : auditUrl

interface Kept {
  readonly server: ServerName
  readonly flushed: string | null
  readonly coveredUntil: string | null
}

type Progress = (server: ServerName, coveredUntil: Date) => void
type Following = FollowOptions & {
  readonly root: string
  readonly signal: AbortSignal
  readonly progress: Progress
}

/** What `told` says while all is well; otherwise it is why not. */
const FOLLOWED = 'followed'

async function followOne(
  context: Context,
  { name, systemId, startLsn }: ServerCopy,
  { root, slot, once = false, signal, progress }: Following,
): Promise<Kept> {
  const { output } = context
  const folder = sharedPlaces(root).wal(systemId)
  const beganAt = new Date()
  const done = new AbortController()
  let newest: WalFollowing | undefined
  let writtenAt = 0
  let saving = Promise.resolve()
  let told = ''

  function onCovered(following: WalFollowing): void {
    if (told !== FOLLOWED) output.step('passed', name, `followed from ${following.flushed} on`)
    told = FOLLOWED
    newest = following
    const { coveredUntil } = following
    progress(name, coveredUntil)
    if (once && coveredUntil >= beganAt) done.abort()
    if (performance.now() - writtenAt < WRITE_EVERY_MS && !done.signal.aborted) return
    writtenAt = performance.now()
    saving = saving.then(() => save(following))
    saving.catch(() => undefined)
  }

  const save = ({ timeline, flushed, coveredUntil }: WalFollowing): Promise<void> =>
    writeFollowed(root, systemId, { timeline, flushed, coveredUntil: coveredUntil.toISOString() })

  await requirePlain(sharedPlaces(root).wals)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await requirePlain(folder)
  await alone(folder, async () => {
    const ending = AbortSignal.any([signal, done.signal])
    while (!ending.aborted) {
      try {
        await withServers(context, (servers) =>
          followWal(urlOf(servers, name), {
            folder,
            from: startLsn,
            slot,
            signal: ending,
            onCovered,
          }),
        )
        await saving
      } catch (error) {
        if (error instanceof BatonError && error.kind === 'permanent') throw error
        const why = `${codeOf(error)}: ${error instanceof Error ? error.message : String(error)}`
        if (why !== told) output.step('unknown', name, `waits for its server (${why})`)
        told = why
        saving = Promise.resolve()
        await delay(RETRY_MS, undefined, { signal: ending }).catch(() => undefined)
      }
    }
  })
  output.endProgress()
  return {
    server: name,
    flushed: newest?.flushed ?? null,
    coveredUntil: newest?.coveredUntil.toISOString() ?? null,
  }
}

/** Two that write the same files would mix them. Throws BATON_BACKUP_BUSY. */
async function alone(folder: string, work: () => Promise<void>): Promise<void> {
  let isHeld = false
  try {
    await withLock(join(folder, '.lock'), { waitMs: 0 }, () => {
      isHeld = true
      return work()
    })
  } catch (cause) {
    if (isHeld) throw cause
    throw transient('BATON_BACKUP_BUSY', `another command follows into ${folder}`, {
      cause,
      fix: 'One is enough; end that one first where this is to take its place.',
    })
  }
}

async function endFollowing(
  { output }: Context,
  servers: Servers,
  slot: string,
): Promise<ExitCode> {
  const urls = [...new Set([servers.operationalUrl, servers.auditUrl])]
  for (const url of urls) await withWalSender(url, (client) => dropSlot(client, slot))
  if (output.json) output.data(JSON.stringify({ slot }))
  output.check('passed', 'ended', `the servers keep nothing more for ${slot}`)
  return EXIT.fine
}

const noBackup = (root: string) =>
  permanent('BATON_BACKUP_UNKNOWN', `there is no backup in ${root}`, {
    fix: 'Take one first: write-ahead log is of use only to what a backup begins with.',
  })

const otherServer = (root: string, name: ServerName) =>
  permanent('BATON_BACKUP_UNKNOWN', `the newest backup in ${root} is of another ${name} server`, {
    fix: 'Take a backup of this one first, or name its folder with --to.',
  })
