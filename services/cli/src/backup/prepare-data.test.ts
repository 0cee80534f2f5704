// Whoever may write to the folder of the backups gets nothing written elsewhere by a restore, and nothing into the settings of its server.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { withBackupLock } from './backup-lock.ts'
import { findBackup, FORMAT, idOf } from './backup-folder.ts'
import { prepareData } from './prepare-data.ts'

const ID = '20261128T101500Z'
let place: string
let root: string
let target: string
let outside: string

const SERVER = {
  name: 'operational',
  databases: ['baton'],
  systemId: '7',
  version: '18.4',
  timeline: 1,
  segmentBytes: 16_777_216,
  startLsn: '0/1000000',
  endLsn: '0/1000000',
  beganAt: '2026-11-28T10:15:00.000Z',
  endedAt: '2026-11-28T10:15:01.000Z',
  archive: 'operational.tar.zst',
  manifest: 'operational.files.json',
}

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'baton-prepare-'))
})
afterAll(() => rm(place, { recursive: true }))

beforeEach(async () => {
  root = await mkdtemp(join(place, 'backups-'))
  target = await mkdtemp(join(place, 'target-'))
  outside = join(place, `outside-${crypto.randomUUID()}`)
  await writeFile(outside, 'precious')
})

const listed = (path: string, bytes: Buffer) => ({
  path,
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

/** A backup of which all digests are right. */
async function writeBackup(fill: (data: string) => Promise<unknown>, changes: object = {}) {
  const data = await mkdtemp(join(place, 'data-'))
  await fill(data)
  const archive = zstdCompressSync(
    execFileSync('tar', ['-b', '1', '-c', '-f', '-', '-C', data, '.']),
  )
  const list = Buffer.from('{"Files":[]}')
  const folder = join(root, ID)
  await mkdir(folder)
  await writeFile(join(folder, SERVER.archive), archive)
  await writeFile(join(folder, SERVER.manifest), list)
  const files = [listed(SERVER.archive, archive), listed(SERVER.manifest, list)]
  const manifest = { format: FORMAT, id: ID, servers: [SERVER], files, ...changes }
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
}

async function prepare() {
  const stored = await findBackup(root, ID)
  const [server] = stored.manifest.servers
  if (server === undefined) throw new TypeError('the backup has a server')
  return prepareData(target, {
    root,
    stored,
    server,
    until: 'end',
    signal: new AbortController().signal,
    onProgress: () => undefined,
  })
}

const refusal = (code: string) => expect.objectContaining({ code })

test('two backups of one second are two, and in order', () => {
  const ids = ['2026-11-28T10:15:00.001Z', '2026-11-28T10:15:00.002Z'].map((at) =>
    idOf(new Date(at)),
  )
  expect(new Set(ids.toSorted()).size).toBe(2)
  expect(ids).toEqual(ids.toSorted())
})

describe('prepareData', () => {
  it('takes what a backup has written', async () => {
    await writeBackup((data) => writeFile(join(data, 'PG_VERSION'), '18\n'))
    await prepare()
    expect(await readFile(join(target, 'postgresql.auto.conf'), 'utf8')).toContain(`'${ID}'`)
  })

  it.each(['postgresql.auto.conf', 'recovery.signal'])(
    'writes to no other place through a link called %s',
    async (name) => {
      await writeBackup((data) => symlink(outside, join(data, name)))
      await expect(prepare()).rejects.toThrow(refusal('BATON_BACKUP_DAMAGED'))
      expect(await readFile(outside, 'utf8')).toBe('precious')
    },
  )

  it.each([SERVER.archive, SERVER.manifest])(
    'refuses a %s that the manifest does not list',
    async (name) => {
      await writeBackup((data) => writeFile(join(data, 'PG_VERSION'), '18\n'))
      const path = join(root, ID, name)
      const bytes = await readFile(path)
      const other =
        name === SERVER.manifest ? Buffer.from('{"Files": []}') : zstdCompressSync(bytes)
      await writeFile(path, other)
      await expect(prepare()).rejects.toThrow(refusal('BATON_BACKUP_DAMAGED'))
    },
  )

  it.each(['manifest.json', SERVER.archive, SERVER.manifest, '../erasures.jsonl', '../wal/7/x'])(
    'refuses a pipe or a link called %s, and waits for none',
    async (name) => {
      await writeBackup((data) => writeFile(join(data, 'PG_VERSION'), '18\n'))
      const path = join(root, ID, name)
      await mkdir(dirname(path), { recursive: true })
      await rm(path, { force: true })
      execFileSync('mkfifo', [path])
      await expect(prepare()).rejects.toThrow(refusal('BATON_BACKUP_UNREADABLE'))
      await rm(path)
      await symlink(outside, path)
      await expect(prepare()).rejects.toThrow(refusal('BATON_BACKUP_UNREADABLE'))
    },
  )

  it('waits for no lock that is a pipe', async () => {
    execFileSync('mkfifo', [join(root, '.lock')])
    await expect(withBackupLock({} as never, root, async () => undefined)).rejects.toThrow(
      refusal('BATON_BACKUP_UNREADABLE'),
    )
  })

  it.each([
    ['id', { id: `x'\narchive_command = 'touch /tmp/x` }],
    ['time', { id: '20250101T000000Z' }],
    ['server', { servers: [{ ...SERVER, name: '../../elsewhere' }] }],
    ['archive', { servers: [{ ...SERVER, archive: '../operational.tar.zst' }] }],
    ['number of its server', { servers: [{ ...SERVER, systemId: '../..' }] }],
    ['list of files', { files: [{ path: '../../secret', bytes: 1, sha256: '' }] }],
    ['servers twice', { servers: [SERVER, SERVER] }],
  ])('reads no manifest with another %s than backups have', async (_, changes) => {
    await writeBackup(async () => undefined, changes)
    await expect(prepare()).rejects.toThrow(refusal('BATON_BACKUP_UNREADABLE'))
  })
})
