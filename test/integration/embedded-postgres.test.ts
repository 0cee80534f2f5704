// A command that was killed leaves its Postgres running; the next command uses it and ends it. One that does not
// answer is ended only when nobody uses it.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPool } from '@baton/store'
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

const AS_ROOT = process.getuid?.() === 0
const ownerOf = (path: string): string => {
  const { uid, gid } = statSync(path)
  return `${uid}:${gid}`
}

it.runIf(AS_ROOT)(
  'runs under root as an account of its own, which reads no other server (needs root)',
  async () => {
    const others = join(folder, 'others')
    const other = await startPostgres({ dataDir: others, logger })
    onTestFinished(async () => {
      await other.stop()
      rmSync(other.home, { recursive: true, force: true })
    })
    const [one] = running
    const home = one?.home ?? ''
    const nobody = /^nobody:[^:]*:(\d+):(\d+)/m.exec(readFileSync('/etc/passwd', 'utf8'))
    const owners = [home, other.home].map(ownerOf)
    expect(new Set([...owners, `${nobody?.[1]}:${nobody?.[2]}`]).size).toBe(3)
    const superuser = createPool({ url: other.superuserUrl, applicationName: 'test' })
    try {
      const read = (path: string) =>
        superuser.query({ text: 'select pg_read_file($1) as text', values: [path] })
      expect((await read(join(other.home, 'data', 'PG_VERSION'))).rows).toHaveLength(1)
      for (const path of ['data/PG_VERSION', 'data/global/pg_control', 'server.log'])
        await expect(read(join(home, path))).rejects.toThrow('Permission denied')
    } finally {
      await superuser.end()
    }
  },
)

it.runIf(AS_ROOT)(
  'takes data that the account of all servers had, and gives it one of its own (needs root)',
  async () => {
    const dataDir = join(folder, 'earlier')
    const first = await startPostgres({ dataDir, logger })
    await first.stop()
    execFileSync('chown', ['-R', 'nobody:', first.home])
    const again = await startPostgres({ dataDir, logger })
    onTestFinished(async () => {
      await again.stop()
      rmSync(again.home, { recursive: true, force: true })
    })
    expect(again).toMatchObject({ source: 'started', home: first.home })
    const owner = ownerOf(again.home)
    expect(owner).toMatch(/^[45]\d{4}:[45]\d{4}$/)
    for (const file of ['data', 'data/base', 'data/PG_VERSION', 'server.log'])
      expect(ownerOf(join(again.home, file))).toBe(owner)
  },
)

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
