// Faults of traffic: bursts, queue messages published ten times or long after, messages that kill their worker.
import { randomUUID } from 'node:crypto'
import { queueNameOf } from '@baton/transport'
import { Queue } from 'bullmq'
import { pause } from './fault.ts'
import type { FaultKind, Scene } from './fault.ts'
import { POISON, sendingOf } from './traffic.ts'
import type { World } from './world.ts'

interface Publication {
  readonly handoffId: string
  readonly taskId: string
  readonly publishAttempt: number
  readonly queue: string
  readonly sha256: string
  readonly bytes: number
  readonly traceparent: string
}

const PUBLICATIONS = `select id as "handoffId", task_id as "taskId", publish_attempt as "publishAttempt", to_agent as queue,
    encode(body_sha256, 'hex') as sha256, body_bytes as bytes, traceparent
  from handoff where to_agent in ('chain', 'last') and ended_at is not null = $1
  order by created_at desc limit $2`

/** Puts jobs for known handoffs straight into the queue, under ids that nothing recognises. */
async function publish(scene: Scene, { ended, times }: { ended: boolean; times: number }) {
  const { world } = scene
  const { rows } = await world.admin.query<Publication & Record<string, unknown>>({
    text: PUBLICATIONS,
    values: [ended, scene.number('handoffs')],
  })
  const connection = connectionOf(world)
  const prefix = world.system.env['BATON_QUEUE_PREFIX'] ?? ''
  for (const [type, group] of Map.groupBy(rows, (row) => row.queue)) {
    const queue = new Queue(queueNameOf(type), { connection, prefix, skipVersionCheck: true })
    queue.on('error', () => undefined)
    try {
      const jobs = (group ?? []).flatMap((row) => Array.from({ length: times }, () => jobFor(row)))
      await Promise.race([queue.addBulk(jobs), pause(RING_MAX_MS)])
    } finally {
      await Promise.race([queue.close(), pause(1_000)])
    }
  }
}

function jobFor(row: Publication) {
  const { queue: _, ...pointer } = row
  const opts = { jobId: `again-${randomUUID()}`, attempts: 1, removeOnComplete: true }
  return { name: 'handoff', data: { v: 1, ...pointer }, opts }
}

const RING_MAX_MS = 3_000

function connectionOf({ redis, tls }: Pick<World, 'redis' | 'tls'>) {
  const { hostname: host, port, password } = new URL(redis.url)
  const secure = tls && { tls: { secureContext: tls.own.toOwn() } }
  return { host, port: Number(port), password, maxRetriesPerRequest: 1, ...secure }
}

const onTraffic = { targets: ['traffic'], resource: 'traffic' } as const

export const TRAFFIC_FAULTS: readonly FaultKind[] = [
  {
    kind: 'traffic.burst',
    weight: 2,
    ...onTraffic,
    latest: 0.8,
    draw: (random) => ({ factor: 10, forMs: random.integer(300, 1_000) }),
    async make(scene) {
      scene.driver.burst(scene.number('factor'), scene.number('forMs'))
      await pause(scene.number('forMs'))
    },
  },
  {
    kind: 'traffic.duplicate-jobs',
    weight: 3,
    ...onTraffic,
    draw: (random) => ({ handoffs: random.integer(5, 30) }),
    make: (scene) => publish(scene, { ended: false, times: 10 }),
  },
  {
    kind: 'traffic.replayed-jobs',
    weight: 3,
    ...onTraffic,
    draw: (random) => ({ handoffs: random.integer(10, 100) }),
    make: (scene) => publish(scene, { ended: true, times: 1 }),
  },
  {
    kind: 'traffic.poison',
    weight: 2,
    ...onTraffic,
    latest: 0.4,
    draw: () => ({}),
    make: (scene) => scene.driver.send(sendingOf(POISON, scene.random)),
  },
]
