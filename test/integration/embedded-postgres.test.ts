// A command that was killed leaves its Postgres running; the next command uses it and ends it.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, startPostgres } from '@baton/embedded'
import type { RunningPostgres } from '@baton/embedded'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

const logger = { info: () => undefined, warn: () => undefined }
const folder = mkdtempSync(join(tmpdir(), 'baton-embedded-'))
const dataDir = join(folder, 'pg')

const PROGRAM = `
  import { startPostgres } from '@baton/embedded'
  const logger = { info() {}, warn() {} }
  const { port, home } = await startPostgres({ dataDir: process.argv[1], logger })
  console.log(JSON.stringify({ port, home }))
  setInterval(() => {}, 1000)
`

let killed = { port: 0, home: '' }
const running: RunningPostgres[] = []

beforeAll(async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, dataDir], {
    cwd: new URL('.', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (text) => (output += text))
  await eventually(() => output.includes('\n'), { deadlineMs: 60_000, describe: 'Postgres runs' })
  killed = JSON.parse(output) as typeof killed
  child.kill('SIGKILL')
  const { pid } = child
  await eventually(() => pid !== undefined && !isAlive({ pid, startedAt: null }), {
    deadlineMs: 30_000,
    describe: 'the command is gone',
  })
})

afterAll(async () => {
  for (const postgres of running) await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
  rmSync(killed.home, { recursive: true, force: true })
})

it('is adopted on its port, shared, and stopped by the last user', async () => {
  running.push(await startPostgres({ dataDir, logger }), await startPostgres({ dataDir, logger }))
  expect(running.map(({ source, port }) => ({ source, port }))).toEqual([
    { source: 'adopted', port: killed.port },
    { source: 'adopted', port: killed.port },
  ])
  for (const postgres of running) await postgres.stop()
  const again = await startPostgres({ dataDir, logger })
  running.push(again)
  expect(again).toMatchObject({ source: 'started', port: killed.port, home: killed.home })
})
