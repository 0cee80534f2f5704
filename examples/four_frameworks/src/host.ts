// One agent in a process of its own, until it is told to stop.
import { createWorker, openTransport, readWorkerOptions } from '@baton/sdk'
import type { Agent } from '@baton/sdk'

export async function host(agent: Agent): Promise<void> {
  const { queue, ...options } = readWorkerOptions(process.env)
  const transport = await openTransport(queue)
  // Whoever is killed is followed soon.
  const recovery = { leaseMs: 2_000, undeliveredMs: 1_000, backoff: { baseMs: 100, capMs: 1_000 } }
  const worker = createWorker({ ...options, ...recovery, transport, agents: [agent] })
  await worker.start()
  process.once('SIGTERM', () => {
    void worker.stop().then(() => transport.close())
  })
}
