// A command that was killed leaves its Postgres running; the next command uses it and ends it. One that does not
// answer is ended only when nobody uses it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { discardPostgres, startPostgres } from '@baton/embedded'
import type { RunningPostgres } from '@baton/embedded'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  KEPT,
  kill,
  logger,
  PAUSED_MAX_MS,
  pauseUnused,
  pauseUsed,
  REPLACED,
  runHolder,
} from './embedded-fixture.ts'

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
  const holder = await runHolder<typeof killed>(PROGRAM, dataDir)
  killed = holder.printed
  await kill(holder.child)
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

it('is ended only when nobody uses it', { timeout: PAUSED_MAX_MS }, async () => {
  for (const postgres of running.splice(0)) await postgres.stop()
  const { child } = await runHolder(PROGRAM, dataDir)
  onTestFinished(async () => {
    await kill(child)
    await discardPostgres(dataDir)
  })
  const world = {
    holder: child,
    recordPath: `${dataDir}.json`,
    join: (tell: (words: string) => void) => startPostgres({ dataDir, tell, logger }),
  }
  expect(await pauseUsed(world)).toEqual(KEPT)
  expect(await pauseUnused(world)).toEqual(REPLACED)
})
