// Takes one backup of everything that cannot be made again, while the system runs.
//
// The order is what makes its parts fit, whatever happens meanwhile:
// 1. The sealer's state, then what watches it. A state that is behind its databases is made anew by `recover`; one that is
//    ahead of them would mean that records were taken away. An anchor that is copied after the state has what that says.
// 2. `baton`, then `baton_audit` and `baton_vault`. A copy of a server is the state at its end. On one server that is one moment
//    for all three, and the record of an effect is committed before the effect is. On two, the log is copied second and so is the
//    later one: every effect has its record. A key is in the vault before the record that uses it, so on one server no record
//    lacks its key.
// 3. The cold store, which only grows, last: it is asked for nothing that a copied database has dropped and it has not.
// 4. The erasures that are known by then.
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { auditMigrations, createFileColdStore, createPool, readHeads } from '@baton/audit'
import { storeMigrations } from '@baton/store'
import { identifyServer, withWalSender } from '@baton/postgres'
import { ROOT } from '../root.ts'
import type { Context } from '../context.ts'
import { coldOf, withServers } from '../instance/databases.ts'
import type { Servers } from '../instance/databases.ts'
import { bytesText, count, counted } from '../terminal/figures.ts'
import { FORMAT, idOf, listBackups, listFile, sharedPlaces, writeBackup } from './backup-folder.ts'
import type { BackupManifest, ListedFile, ServerCopy, StoredBackup } from './backup-folder.ts'
import { COLD_LIST, copyCold, readColdList, withoutHeads, writeColdList } from './copy-cold.ts'
import { copySeals } from './copy-seals.ts'
import { copyServer } from './copy-server.ts'
import { extendJournal } from './erasure-journal.ts'

export const ERASURES = 'erasures.jsonl'

/** Throws what the copy of a part throws; nothing is left of it then. */
export async function takeBackup(context: Context, root: string): Promise<StoredBackup> {
  return withServers(context, async (servers) => {
    const began = new Date()
    const id = idOf(began)
    const earlier = (await listBackups(root)).at(-1)
    return writeBackup(root, id, async (folder) => {
      const { output } = context
      const seals = await copySeals(context, folder)
      output.step('passed', 'seals', seals.copied.join(', ') || 'none are kept here')
      const log = await readLogPosition(servers.auditUrl)
      const copies = await copyServers(context, servers, { id, folder })
      const cold = await copyColdStore(context, root, { folder, earlier: earlier?.folder })
      const { erasures } = await extendJournal(sharedPlaces(root).erasures, servers.auditUrl)
      await copyFile(sharedPlaces(root).erasures, join(folder, ERASURES))
      output.step('passed', 'erasures', `${count(erasures.length)} known, whatever is restored`)
      const files: readonly ListedFile[] = [
        ...seals.files,
        ...copies.flatMap(({ files }) => files),
        ...(cold === null ? [] : [await listFile(folder, COLD_LIST)]),
        await listFile(folder, ERASURES),
      ]
      return {
        format: FORMAT,
        id,
        takenAt: began.toISOString(),
        ms: Date.now() - began.getTime(),
        software: await softwareVersion(),
        order: [
          ...seals.copied,
          ...copies.flatMap(({ server }) => server.databases),
          'cold store',
          'erasures',
        ],
        servers: copies.map(({ server }) => server),
        log,
        schema: await newestMigrations(),
        seals: seals.copied,
        missing: seals.missing,
        cold,
        erasures: erasures.length,
        files,
      } satisfies BackupManifest
    })
  })
}

interface Place {
  readonly id: string
  readonly folder: string
}

async function copyServers(
  { output, interrupt, settings }: Context,
  { operationalUrl, auditUrl }: Servers,
  { id, folder }: Place,
): Promise<readonly { readonly server: ServerCopy; readonly files: readonly ListedFile[] }[]> {
  const copy = async (name: ServerCopy['name'], url: string, databases: readonly string[]) => {
    const began = performance.now()
    const copied = await copyServer(url, {
      name,
      databases,
      folder,
      label: `baton ${id} ${name}`,
      signal: interrupt,
      onProgress: (bytes) => output.progress(`${databases.join(', ')}: ${bytesText(bytes)}`),
    })
    output.endProgress()
    const [archive] = copied.files
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    output.step(
      'passed',
      'database',
      `${databases.join(', ')}: ${bytesText(archive?.bytes ?? 0)} in ${seconds} s, whole up to ${copied.server.endLsn}`,
    )
    return copied
  }
  const logs = ['baton_audit', 'baton_vault']
  if (await isOneServer(operationalUrl, auditUrl))
    return [await copy('operational', operationalUrl, [settings.BATON_DATABASE_NAME, ...logs])]
  const operational = await copy('operational', operationalUrl, [settings.BATON_DATABASE_NAME])
  return [operational, await copy('audit', auditUrl, logs)]
}

async function isOneServer(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((url) => withWalSender(url, identifyServer)))
  return a?.systemId === b?.systemId
}

async function copyColdStore(
  context: Context,
  root: string,
  { folder, earlier }: { readonly folder: string; readonly earlier: string | undefined },
): Promise<BackupManifest['cold']> {
  const from = coldOf(context)
  if (from === undefined) return null
  const { output } = context
  const objects = await copyCold({
    from,
    pool: createFileColdStore(sharedPlaces(root).cold),
    known: earlier === undefined ? new Map() : withoutHeads(await readColdList(earlier)),
    onProgress: (done) => output.progress(`cold store: ${counted(done, 'object')}`),
  })
  output.endProgress()
  await writeColdList(folder, objects)
  const bytes = objects.reduce((sum, object) => sum + object.bytes, 0)
  output.step('passed', 'cold store', `${counted(objects.length, 'object')}, ${bytesText(bytes)}`)
  return { objects: objects.length, bytes, list: COLD_LIST }
}

/** Of the log as it stands now. */
export async function readLogPosition(auditUrl: string): Promise<BackupManifest['log']> {
  const pool = createPool({ url: auditUrl, applicationName: 'baton-backup', connectionsMax: 1 })
  try {
    const heads = await readHeads(pool)
    const { rows } = await pool.query<{ seals: number }>({
      text: 'select count(*)::integer as seals from audit.seal',
    })
    const chains = heads.map(({ origin, size, lastHash }) => ({
      origin,
      records: size,
      lastHash: lastHash.toString('hex'),
    }))
    return { chains, seals: rows[0]?.seals ?? 0 }
  } finally {
    await pool.end()
  }
}

async function newestMigrations(): Promise<Readonly<Record<string, string>>> {
  const names = [
    ...(await storeMigrations()).map(({ name }) => `store/${name}`),
    ...(await auditMigrations()).map(({ name }) => name),
  ]
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const [schema = '', file = ''] = name.split('/')
      return [schema, file]
    }),
  )
}

async function softwareVersion(): Promise<string> {
  const text = await readFile(join(ROOT, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
