// Faults of Redis: killed, emptied, restored from an old dump, paused, frozen, full, its connections ended.
import { sendToRedis } from '@baton/testkit'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pause } from './fault.ts'
import type { FaultKind, Scene } from './fault.ts'

const command = async ({ world }: Scene, ...words: string[]): Promise<void> => {
  await sendToRedis(world.redis.url, [words], world.tls?.own)
}
const onRedis = { targets: ['redis'], resource: 'redis' } as const

export const REDIS_FAULTS: readonly FaultKind[] = [
  {
    kind: 'redis.kill',
    weight: 3,
    ...onRedis,
    draw: (random) => ({ downMs: random.integer(0, 2_500) }),
    async make(scene) {
      await scene.world.redis.crash()
      await pause(scene.number('downMs'))
      await scene.world.redis.restart()
    },
  },
  {
    kind: 'redis.flushall',
    weight: 4,
    ...onRedis,
    draw: () => ({}),
    make: (scene) => command(scene, 'FLUSHALL'),
  },
  {
    kind: 'redis.stale-dump',
    weight: 2,
    ...onRedis,
    draw: (random) => ({ ageMs: random.integer(300, 3_000) }),
    make: restoreOldDump,
  },
  {
    kind: 'redis.pause',
    weight: 2,
    ...onRedis,
    draw: (random) => ({ forMs: random.integer(200, 3_000) }),
    async make(scene) {
      await command(scene, 'CLIENT', 'PAUSE', String(scene.number('forMs')), 'ALL')
      await pause(scene.number('forMs'))
    },
  },
  {
    kind: 'redis.client-kill',
    weight: 3,
    ...onRedis,
    draw: () => ({}),
    make: (scene) => command(scene, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
  },
  {
    kind: 'redis.full',
    weight: 2,
    ...onRedis,
    draw: (random) => ({ forMs: random.integer(300, 2_500) }),
    async make(scene) {
      await command(scene, 'CONFIG', 'SET', 'maxmemory', '1mb')
      await pause(scene.number('forMs'))
      await command(scene, 'CONFIG', 'SET', 'maxmemory', '512mb')
    },
  },
  {
    // DEBUG SLEEP is not permitted by default since Redis 7; a stopped server is as silent.
    kind: 'redis.freeze',
    weight: 2,
    ...onRedis,
    draw: (random) => ({ forMs: random.integer(200, 4_000) }),
    async make(scene) {
      const { pid } = scene.world.redis
      process.kill(pid, 'SIGSTOP')
      await pause(scene.number('forMs'))
      process.kill(pid, 'SIGCONT')
    },
  },
]

/** Saves a dump, lets it grow old, kills Redis and starts it with that dump as all it knows. */
async function restoreOldDump(scene: Scene): Promise<void> {
  const { redis } = scene.world
  const saved = join(redis.dir, 'old.rdb')
  await command(scene, 'SAVE')
  await copyFile(join(redis.dir, 'dump.rdb'), saved)
  await pause(scene.number('ageMs'))
  await redis.crash()
  const aof = join(redis.dir, 'appendonlydir')
  await rm(aof, { recursive: true, force: true })
  await mkdir(aof)
  await copyFile(saved, join(aof, 'appendonly.aof.1.base.rdb'))
  const manifest = 'file appendonly.aof.1.base.rdb seq 1 type b\n'
  await writeFile(join(aof, 'appendonly.aof.manifest'), manifest)
  await redis.restart()
}
