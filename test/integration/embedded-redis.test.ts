// A Redis that does not answer is waited for while somebody uses it, and ended only when nobody does.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { discardRedis, findRedis, startRedis } from '@baton/embedded'
import { describeWith } from '@baton/testkit'
import { expect, it, onTestFinished } from 'vitest'
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

const cacheDir = fileURLToPath(new URL('../../.baton/redis-server', import.meta.url))

const PROGRAM = `
  import { startRedis } from '@baton/embedded'
  const logger = { info() {}, warn() {} }
  const [dir, cacheDir] = process.argv.slice(1)
  const { pid } = await startRedis({ dir, cacheDir, fetch: false, logger })
  console.log(pid)
  setInterval(() => {}, 1000)
`

const found = await findRedis({ cacheDir, fetch: true, logger })

describeWith('an embedded Redis', found, () => {
  it('is ended only when nobody uses it', { timeout: PAUSED_MAX_MS }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-embedded-'))
    const dir = join(folder, 'redis')
    const { child } = await runHolder<number>(PROGRAM, dir, cacheDir)
    onTestFinished(async () => {
      await kill(child)
      await discardRedis(dir)
      rmSync(folder, { recursive: true, force: true })
    })
    const world = {
      holder: child,
      recordPath: `${dir}.json`,
      join: async (tell: (words: string) => void) => {
        const redis = await startRedis({ dir, cacheDir, fetch: false, tell, logger })
        if ('unavailable' in redis) throw new Error(redis.unavailable)
        return redis
      },
    }
    expect(await pauseUsed(world)).toEqual(KEPT)
    expect(await pauseUnused(world)).toEqual(REPLACED)
  })
})
