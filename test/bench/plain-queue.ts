// Plain BullMQ in the same run: the ratio to it holds where this machine's absolute figures do not.
import { uniqueName } from '@baton/testkit'
import { runScript } from './run-script.ts'

interface PlainPlan {
  readonly redisUrl: string
  readonly bytes: number
  readonly jobs: number
}

interface Finished {
  readonly startedAt: number
  readonly endedAt: number
}

/** Jobs per second through one producing and one working process, single `add`, 64 under way. */
export async function measurePlainQueue({ redisUrl, bytes, jobs }: PlainPlan): Promise<number> {
  const plan = { redisUrl, bytes, jobs, prefix: uniqueName('plain') }
  const script = 'test/bench/plain-bullmq.ts'
  let ready: () => void = () => undefined
  const workerIsReady = new Promise<void>((resolve) => (ready = resolve))
  const working = runScript<Finished>(script, {
    argument: { ...plan, role: 'work' },
    onReady: ready,
  })
  await workerIsReady
  await runScript<Finished>(script, { argument: { ...plan, role: 'produce' } })
  const { startedAt, endedAt } = await working
  return Math.round((jobs * 1_000) / Math.max(1, endedAt - startedAt))
}
