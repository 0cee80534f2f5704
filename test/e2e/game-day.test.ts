// A whole game day by the command line: an instance of its own, an alert that comes and goes, and nothing left behind.
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-gameday-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const gameday = (...args: readonly string[]) =>
  run(process.execPath, ['services/cli/src/main.ts', '--json', 'gameday', ...args], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: folder },
  })

describe('baton gameday', () => {
  it('lists what there is', async () => {
    const listed = JSON.parse((await gameday()).stdout) as readonly { name: string }[]
    expect(listed.map(({ name }) => name)).toContain('sealer-away')
  })

  it('never touches a folder that holds anything', async () => {
    const used = join(folder, 'used')
    await run('mkdir', [used])
    await writeFile(join(used, 'mine'), 'mine')
    const refused = gameday('process-away', '--in', used)
    await expect(refused).rejects.toThrow('BATON_GAMEDAY_FOLDER_USED')
    expect(await readdir(used)).toEqual(['mine'])
    await rm(used, { recursive: true })
  })

  it.skipIf(!hasPrometheus)(
    'breaks and mends one of its own (needs prometheus on PATH)',
    async () => {
      const [result] = JSON.parse((await gameday('process-away')).stdout) as readonly object[]
      expect(result).toMatchObject({
        verdict: 'passed',
        alerts: [{ alert: 'BatonProcessDown', goneAfterSeconds: expect.any(Number) as number }],
      })
      expect(await readdir(folder)).toEqual([])
    },
    120_000,
  )
})
