// An instance that is gone as a whole comes back from its backup and the secrets that were kept apart, and whoever was erased since is
// erased again; a backup that was changed is refused.
import { randomUUID } from 'node:crypto'
import {
  appendFile,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { discardPostgres } from '@baton/embedded'
import { startFakeS3 } from '@baton/testkit'
import type { FakeS3 } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'

const MAX_MS = 240_000
const PERSON = 'ada-beispiel'
const BUCKET = 's3://backups/prod'

let baton: CommandLine
let elsewhere: string
let backups: string
let secrets: string
let s3: FakeS3

const json = async <Answer>(...args: string[]): Promise<Answer> => {
  const { exitCode, stdout, stderr } = await baton.run(...args, '--json')
  if (exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${exitCode}: ${stderr}`)
  return JSON.parse(stdout) as Answer
}

interface Summary {
  readonly id: string
  readonly folder: string
  readonly records: number
  readonly coldObjects: number
}

interface Restored {
  readonly records: number
  readonly gaps: readonly object[]
  readonly erasures: { readonly repeated: number; readonly keys: number }
  readonly admitted: boolean
  readonly verified: number
}

interface Drilled extends Pick<Restored, 'records' | 'gaps' | 'erasures'> {
  readonly backup: string
  readonly passed: boolean
  readonly recorded: boolean
  readonly recordsBehind: number
  readonly coveredUntil: string
  readonly walFiles: number
  readonly rpoSeconds: number
}

interface Followed {
  readonly coveredUntil: string
}

let taken: Summary

const STATE = {
  agent: { agentId: 'intake', agentVersion: '1.0.0' },
  taskDescription: 'Review a licence',
  completedSubtasks: [
    { subtaskId: 's1', description: 'read', completedAt: new Date().toISOString() },
  ],
  remainingSubtasks: [{ subtaskId: 'review', description: 'review it' }],
  currentState: { licence: {} },
  cost: {
    spentSoFarUSD: 0,
    budgetRemainingUSD: 1,
    ownCostUSD: 0,
    tokenSpent: { prompt: 0, completion: 0 },
  },
  personalData: {
    dataSubjects: [PERSON],
    payload: { '/currentState/name': { subject: PERSON, value: PERSON } },
  },
}

beforeAll(async () => {
  elsewhere = await mkdtemp(join(tmpdir(), 'baton-backups-'))
  backups = join(elsewhere, 'backups')
  s3 = await startFakeS3()
  baton = await openCommandLine({
    BATON_BACKUP_FOLDER: backups,
    BATON_BACKUP_S3_ENDPOINT: s3.url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })
  secrets = join(elsewhere, 'secrets.json')
  const file = join(elsewhere, 'state.json')
  await writeFile(file, JSON.stringify(STATE))
  // It rolls back, so nothing of the person is open.
  await baton.run('send', '--to', 'unreliable-review', '--file', file, '--no-redis')
  taken = await json<Summary>('backup', '--secrets-to', secrets)
  const { erasureId } = await json<{ erasureId: string }>(
    'erase',
    PERSON,
    '--basis',
    'GDPR_ART_17_1',
  )
  await json('erase', PERSON, '--confirm', erasureId, '--as', 'reviewer-1', '--no-purge-storage')
}, MAX_MS)
afterAll(async () => {
  await baton.discard()
  await s3.close()
  await rm(elsewhere, { recursive: true, force: true })
})

it('holds all records, as its list says', async () => {
  expect(taken.records).toBeGreaterThan(0)
  const { stdout, stderr, exitCode } = await baton.run('backup', 'verify')
  expect(stdout).toContain('all as listed')
  // For trial, and of the folder that was verified: what is printed can be typed.
  expect(stderr).toContain(
    `Next: npm run baton -- --home ${baton.home} restore drill ${taken.id} --from ${backups}\n`,
  )
  expect(exitCode).toBe(0)
})

it(
  'is restored beside the instance for trial, verified and recorded',
  async () => {
    const drill = await json<Drilled>('restore', 'drill')
    expect(drill).toMatchObject({ passed: true, recorded: true, gaps: [], backup: taken.id })
    expect(drill.records).toBe(taken.records)
    expect(drill.erasures.repeated).toBe(1)
    expect(drill.recordsBehind).toBeGreaterThan(0)
    expect(drill.rpoSeconds).toBeGreaterThan(0)
    expect(await readdir(baton.home)).not.toContain('drill')
  },
  MAX_MS,
)

it(
  'brings back an instance that is gone as a whole, and erases again who was erased since',
  async () => {
    await discardPostgres(join(baton.home, 'pg'))
    await rm(baton.home, { recursive: true })
    // What fails leaves no way to begin an empty database in its place.
    expect((await baton.run('restore')).stderr).toContain('BATON_SECRETS_MISSING')
    const archive = join(taken.folder, 'operational.tar.zst')
    await rename(archive, `${archive}.away`)
    expect((await baton.run('restore', '--secrets', secrets)).exitCode).not.toBe(0)
    await rename(`${archive}.away`, archive)
    const begun = await baton.run('migrate')
    expect(begun.exitCode).toBe(1)
    expect(begun.stderr).toMatch(/BATON_RESTORE_UNFINISHED[^]*Run that `restore` again/)
    const restored = await json<Restored>('restore', '--secrets', secrets)
    expect(restored).toMatchObject({ admitted: true, verified: 0, gaps: [] })
    expect(restored.erasures).toMatchObject({ repeated: 1, keys: 1 })
    expect(restored.records).toBe(taken.records)
  },
  MAX_MS,
)

it(
  'records the erasure once more when its services start, and verifies',
  async () => {
    const found = await baton.run('subject', PERSON, '--json')
    expect([found.exitCode, JSON.parse(found.stdout)]).toMatchObject([
      5,
      { handoffs: [], records: [] },
    ])
    const { exitCode, stdout } = await baton.run('verify')
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('Verified OK')])
  },
  MAX_MS,
)

it(
  'loses nothing that was committed while its write-ahead log was followed',
  async () => {
    // The restored server begins another timeline, so that a new backup is taken first.
    await json('backup', 'follow', '--once')
    const committedAt = new Date().toISOString()
    await baton.run('tenants', 'add', 'later')
    // Somebody who may put was there first, with what is as long: the real one is sent all the same.
    const archive = await readFile(join(taken.folder, 'operational.tar.zst'))
    const placed = `backups/prod/${taken.id}/operational.tar.zst`
    s3.overwrite(placed, 'x'.repeat(archive.length))
    const [followed] = await json<readonly Followed[]>('backup', 'follow', '--once', '--to', BUCKET)
    expect((followed?.coveredUntil ?? '') > committedAt).toBe(true)
    expect(s3.objects.get(placed)?.bytes.equals(archive)).toBe(true)
    // From the bucket, where the folder is gone.
    const drill = await json<Drilled>('restore', 'drill', '--from', BUCKET)
    expect(drill).toMatchObject({ passed: true, recordsBehind: 0, vouched: true })
    expect(drill.coveredUntil > committedAt).toBe(true)
    expect(drill.walFiles).toBeGreaterThan(0)
  },
  MAX_MS,
)

it(
  'is refused where the log knows it by another manifest',
  async () => {
    const [newest] = (await json<readonly Summary[]>('backup', 'ls')).slice(-1)
    const path = join(newest?.folder ?? '', 'manifest.json')
    const manifest = await readFile(path, 'utf8')
    await writeFile(path, manifest.replace('"software": "', '"software": "other '))
    for (const command of [['restore', 'drill'], ['restore']]) {
      const { exitCode, stderr } = await baton.run(...command)
      expect([exitCode, stderr]).toEqual([
        3,
        expect.stringContaining('is not the one that was taken'),
      ])
    }
    await writeFile(path, manifest)
    expect(await json<Restored>('restore')).toMatchObject({ vouched: true, verified: 0 })
  },
  MAX_MS,
)

it(
  'erases nobody in databases that stayed, whatever the journal beside the backups says',
  async () => {
    const journal = join(backups, 'erasures.jsonl')
    const kept = await readFile(journal, 'utf8')
    const line = kept.split('\n').find((text) => text.startsWith('{"erasure"')) ?? ''
    const { erasure } = JSON.parse(line) as { readonly erasure: object }
    const forged = { ...erasure, id: randomUUID(), signed: null }
    await appendFile(journal, `${JSON.stringify({ erasure: forged })}\n`)
    const restored = await json<Restored>('restore', '--keep-databases')
    expect(restored).toMatchObject({ verified: 0, erasures: { known: 2, repeated: 0, keys: 0 } })
    await writeFile(journal, kept)
  },
  MAX_MS,
)

it('is refused once a file of it was changed', async () => {
  const archive = join(taken.folder, 'operational.tar.zst')
  await truncate(archive, (await readFile(archive)).length - 1)
  const { stderr, exitCode } = await baton.run('backup', 'verify', taken.id)
  expect(exitCode).toBe(3)
  expect(stderr).toContain(`Next: npm run baton -- --home ${baton.home} backup --to ${backups}\n`)
  expect((await baton.run('restore', taken.id)).exitCode).toBe(3)
})
