// A stolen set of each process’s secrets in turn: what thieves of a running instance come to, as the page of the threat model tells it.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'
import { raid } from './stolen/raid.ts'
import type { Shown } from './stolen/raid.ts'
import { openScene } from './stolen/scene.ts'
import { withTable } from './stolen/table.ts'

const START_MAX_MS = 90_000
const RAID_MAX_MS = 420_000
const PAGE = fileURLToPath(new URL('../../infra/threat-model.md', import.meta.url))

describe('a stolen set of each process’s secrets', () => {
  let baton: CommandLine
  let up: ServiceProcess
  let shown: Shown

  beforeAll(async () => {
    baton = await openCommandLine()
    up = await spawnService({
      main: 'services/cli/src/main.ts',
      args: ['up', '--reviews', '1', '--no-redis', '--home', baton.home],
      ready: /Baton is up/,
      readyMaxMs: START_MAX_MS,
    })
    const scene = await openScene(baton.home)
    try {
      shown = await raid(scene)
    } finally {
      await scene.close()
    }
  }, START_MAX_MS + RAID_MAX_MS)
  afterAll(async () => {
    await up.stop()
    await baton.discard()
  })

  const whoCan = (attempt: string): readonly string[] =>
    Object.entries(shown).flatMap(([thief, came]) => {
      const outcome = came[attempt] ?? ''
      return outcome.startsWith('possible') ? [`${thief}: ${outcome}`] : []
    })

  it.each([
    'release what was quarantined',
    'approve what waits for a person',
    'record a discard in somebody’s name',
    'erase a person from the log',
    'delete from the log',
    'make a key, a tenant or a grant',
    'enter a database beside Baton’s',
    'stop all work by connections',
  ])('lets nobody %s', (attempt) => {
    expect(whoCan(attempt)).toEqual([])
  })

  it.each(['hold a task', 'lift a hold'])('lets nobody %s unseen', (attempt) => {
    expect(whoCan(attempt)).toEqual(['the auditor: possible, found by verify'])
  })

  it('lets nobody close what was quarantined unseen', () => {
    expect(whoCan('close what was quarantined')).toEqual(['the gateway: possible, found by doctor'])
  })

  it('was tried with every secret, and comes to what the threat model says', async () => {
    expect(Object.keys(shown)).toEqual(
      expect.arrayContaining(
        ['gateway', 'receiver', 'auditor', 'sealer', 'archiver', 'witness'].map(
          (name) => `the ${name}`,
        ),
      ),
    )
    const page = await readFile(PAGE, 'utf8')
    await expect(withTable(page, shown)).toMatchFileSnapshot(PAGE)
  })
})
