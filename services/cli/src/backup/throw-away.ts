// A backup put back beside the instance: servers of its own that only this machine reaches, gone again with all that is in them.
import { chmod, lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  discardPostgres,
  embeddedPostgresMajor,
  replacePostgresData,
  startPostgres,
} from '@baton/embedded'
import type { RunningPostgres } from '@baton/embedded'
import { permanent } from '@baton/runtime'
import { openLog } from '../context.ts'
import type { Context } from '../context.ts'
import type { Servers } from '../instance/databases.ts'
import { writeDurably } from './backup-folder.ts'
import type { ServerCopy, StoredBackup } from './backup-folder.ts'
import { findNewestCommit } from './finish-restore.ts'
import { prepareData } from './prepare-data.ts'
import type { Until } from './prepare-data.ts'

interface ThrowAwayOptions {
  readonly root: string
  readonly stored: StoredBackup
  readonly until: Until
  /** Where it stands: made where it is missing, and what an earlier one left there is deleted. */
  readonly place: string
}

export interface ThrowAway {
  readonly servers: Servers
  readonly walFiles: number
  /** As `findNewestCommit` says. */
  readonly newestCommit: Date | null
  readonly unpackMs: number
  readonly recoverMs: number
}

interface Superuser {
  readonly user: string
  readonly password: string
}

/**
 * Runs `work` on it. Nothing is left afterwards. Throws BATON_DRILL_VERSION, BATON_DRILL_PASSWORD, BATON_FILE_NOT_ALLOWED for a place
 * that others write to, and what `prepareData` throws.
 */
export async function withThrowAway<Result>(
  context: Context,
  options: ThrowAwayOptions,
  work: (restored: ThrowAway) => Promise<Result>,
): Promise<Result> {
  const { place } = options
  const { servers } = options.stored.manifest
  const folders = servers.map(({ name }) => join(place, name))
  const clear = async (): Promise<void> => {
    await makeOwn(place)
    for (const folder of folders) await discardPostgres(folder)
    await rm(place, { recursive: true, force: true })
  }
  await clear()
  await makeOwn(place)
  // The account that Postgres runs as passes through, and reads nothing here.
  await chmod(place, 0o711)
  const running: RunningPostgres[] = []
  try {
    return await work(await start(context, { ...options, running }))
  } finally {
    for (const server of running) await server.stop()
    await clear()
  }
}

const WRITTEN_BY_OTHERS = 0o022

/** What an earlier drill left there says what is deleted: in a folder that others write to, like /tmp, they may have said it. */
async function makeOwn(place: string): Promise<void> {
  await mkdir(place, { recursive: true, mode: 0o700 })
  const found = await lstat(place)
  const isOwn = process.getuid === undefined || found.uid === process.getuid()
  if (!found.isDirectory() || !isOwn || (found.mode & WRITTEN_BY_OTHERS) !== 0) throw notOwn(place)
}

async function start(
  context: Context,
  options: ThrowAwayOptions & { readonly running: RunningPostgres[] },
): Promise<ThrowAway> {
  const { place, stored, running } = options
  let walFiles = 0
  const began = performance.now()
  for (const server of stored.manifest.servers) {
    await requireVersion(server)
    walFiles += await fill(context, server, options)
  }
  const unpacked = performance.now()
  const urls = new Map<string, URL>()
  for (const server of stored.manifest.servers) {
    const { user, password } = await superuserOf(context, server.name)
    const started = await startPostgres({
      dataDir: join(place, server.name),
      mayBeNew: false,
      temporary: true,
      tell: (words) => context.output.words(words),
      logger: openLog(context.home),
    })
    running.push(started)
    const url = new URL(`postgres://127.0.0.1:${started.port}/postgres`)
    url.username = encodeURIComponent(user)
    url.password = encodeURIComponent(password)
    urls.set(server.name, url)
  }
  const servers = serversOn(urls, context)
  return {
    servers,
    walFiles,
    newestCommit: await findNewestCommit(servers),
    unpackMs: Math.round(unpacked - began),
    recoverMs: Math.round(performance.now() - unpacked),
  }
}

async function fill(
  context: Context,
  server: ServerCopy,
  { place, root, stored, until }: ThrowAwayOptions,
): Promise<number> {
  const dataDir = join(place, server.name)
  const { password } = await superuserOf(context, server.name)
  await mkdir(join(place, 'secrets'), { recursive: true, mode: 0o700 })
  await writeDurably(join(place, 'secrets', server.name), `${password}\n`)
  let walFiles = 0
  await replacePostgresData({
    dataDir,
    keepAs: 'data.before',
    async fill(target) {
      const prepared = await prepareData(target, {
        root,
        stored,
        server,
        until,
        isThrowAway: true,
        signal: context.interrupt,
        onProgress: context.output.progress,
      })
      walFiles = prepared.walFiles
    },
  })
  context.output.endProgress()
  return walFiles
}

function serversOn(urls: ReadonlyMap<string, URL>, { settings }: Context): Servers {
  const on = (name: string, database: string): string => {
    const url = new URL(urls.get(name) ?? urls.get('operational') ?? '')
    url.pathname = `/${database}`
    return url.href
  }
  return {
    description: 'a restored copy',
    operationalUrl: on('operational', settings.BATON_DATABASE_NAME),
    auditUrl: on('audit', 'baton_audit'),
    vaultUrl: on('audit', 'baton_vault'),
  }
}

/** The password that the copied server knows: it is checked there as it was when the backup was taken. */
async function superuserOf(
  { home, settings }: Pick<Context, 'home' | 'settings'>,
  name: ServerCopy['name'],
): Promise<Superuser> {
  const { BATON_DATABASE_ADMIN_URL: operational, BATON_AUDIT_ADMIN_URL: audit } = settings
  const given = name === 'audit' ? (audit ?? operational) : operational
  if (given === undefined) {
    const path = join(resolve(home), 'secrets', 'pg')
    const password = await readFile(path, 'utf8').catch((cause: unknown) => {
      throw noPassword(path, cause)
    })
    return { user: 'postgres', password: password.trim() }
  }
  const { username, password } = new URL(given)
  if (password === '') throw noPassword('BATON_DATABASE_ADMIN_URL', undefined)
  return { user: decodeURIComponent(username), password: decodeURIComponent(password) }
}

async function requireVersion({ version }: ServerCopy): Promise<void> {
  const there = await embeddedPostgresMajor()
  if (Number.parseInt(version, 10) !== there) throw otherVersion(version, there)
}

const notOwn = (place: string) =>
  permanent('BATON_FILE_NOT_ALLOWED', `${place} is no folder that you alone may write to`, {
    fix: 'Delete it, or name another place with --in.',
  })

const noPassword = (where: string, cause: unknown) =>
  permanent('BATON_DRILL_PASSWORD', `${where} has no password of the superuser`, {
    cause,
    fix: 'A restored copy is reached by the password that its superuser had when it was copied: name the server with it.',
  })

const otherVersion = (version: string, there: number) =>
  permanent(
    'BATON_DRILL_VERSION',
    `the backup is of Postgres ${version}, and Baton brings Postgres ${there}`,
    {
      fix: 'On a machine with that version: `restore --data-directory FOLDER`, start it, then `verify` with its address.',
    },
  )
