// Until when a backup covers everything: what was followed counts, and no claim of a time that has not come.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { sharedPlaces } from './backup-folder.ts'
import type { BackupManifest } from './backup-folder.ts'
import { reached, writeFollowed } from './followed.ts'

const SYSTEM = '7301'
const ENDED_AT = '2026-01-01T00:00:00.000Z'
const MANIFEST = {
  servers: [{ systemId: SYSTEM, timeline: 1, endedAt: ENDED_AT }],
} as unknown as BackupManifest

async function coveredWith(coveredUntil: string): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'baton-followed-'))
  onTestFinished(() => rm(root, { recursive: true }))
  await mkdir(sharedPlaces(root).wal(SYSTEM), { recursive: true })
  await writeFollowed(root, SYSTEM, { timeline: 1, flushed: '0/3000000', coveredUntil })
  return (await reached(root, MANIFEST, { until: 'end', newestCommit: null })).toISOString()
}

it('is what was followed since', async () => {
  expect(await coveredWith('2026-01-02T00:00:00.000Z')).toBe('2026-01-02T00:00:00.000Z')
})

it('is no time that has not come', async () => {
  const nextYear = new Date(Date.now() + 365 * 86_400_000).toISOString()
  expect(await coveredWith(nextYear)).toBe(ENDED_AT)
})
