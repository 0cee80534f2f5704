// A transport of one's own: queues in a folder, for processes on one machine. It keeps the whole contract and nothing else: ids
// go in, handlers are called. It may lose everything, since Postgres says what is still due.
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { jobIdOf, transient } from '@baton/sdk'
import type { ConsumeOptions, Job, Pointer, Transport } from '@baton/sdk'

/** How soon another process's job is noticed. */
const LOOK_MS = 20

/** A consumer of this process. */
interface Running {
  /** Takes what it has room for. */
  look(): void
  stop(): Promise<void>
}

/** Every process that shares queues names the same folder. */
export function createFolderTransport(folder: string): Transport {
  const running = new Set<Running>()
  let published = 0
  let closed = false

  function add({ queue, priority, pointer }: Job): void {
    const own = openQueue(folder, queue)
    const id = jobIdOf(pointer)
    if (!claimId(own, id)) return
    published += 1
    const order = [priority, pad(Date.now()), pad(published), id].join('-')
    // Written elsewhere and moved: nobody ever reads half a job.
    const draft = join(own.drafts, id)
    writeFileSync(draft, JSON.stringify(pointer))
    renameSync(draft, join(own.waiting, order))
  }

  return {
    // Workers relay for themselves, as they do without Redis: no process of its own brings the outbox here.
    kind: 'in-process',
    watermarks: null,
    async publish(jobs) {
      if (closed) throw transient('BATON_QUEUE_UNAVAILABLE', 'the folder is closed')
      for (const job of jobs) add(job)
      for (const consumer of running) consumer.look()
    },
    async consume(options) {
      const { consumer, ...started } = startConsumer(openQueue(folder, options.queue), options)
      running.add(started)
      return {
        ...consumer,
        async stop() {
          await started.stop()
          running.delete(started)
        },
      }
    },
    missing: async (jobs) =>
      jobs
        .filter(({ queue, jobId }) => !existsSync(join(openQueue(folder, queue).ids, jobId)))
        .map(({ jobId }) => jobId),
    waiting: async (queue) => readdirSync(openQueue(folder, queue).waiting).length,
    async close() {
      closed = true
      await Promise.all([...running].map((consumer) => consumer.stop()))
    },
  }
}

type Queue = ReturnType<typeof openQueue>

/** Agent types are any text, so a digest is the name of the folder. */
function openQueue(folder: string, queue: string) {
  const own = join(folder, createHash('sha256').update(queue).digest('hex'))
  const parts = {
    drafts: join(own, 'drafts'),
    waiting: join(own, 'waiting'),
    taken: join(own, 'taken'),
    ids: join(own, 'ids'),
  }
  for (const part of Object.values(parts)) mkdirSync(part, { recursive: true })
  return parts
}

const pad = (count: number): string => String(count).padStart(16, '0')

/** Whether nobody has published this id before that still waits or runs: only one can make the file. */
function claimId({ ids }: Queue, id: string): boolean {
  try {
    writeFileSync(join(ids, id), '', { flag: 'wx' })
    return true
  } catch {
    return false
  }
}

function startConsumer(queue: Queue, { concurrency, handle }: ConsumeOptions) {
  let paused = false
  let active = 0
  let idle: () => void = () => undefined
  const timer = setInterval(look, LOOK_MS)

  function look(): void {
    if (paused) return
    for (const name of readdirSync(queue.waiting).toSorted()) {
      if (active >= concurrency) return
      if (take(queue, name)) void run(name)
    }
  }

  async function run(name: string): Promise<void> {
    active += 1
    const path = join(queue.taken, name)
    const pointer = JSON.parse(readFileSync(path, 'utf8')) as Pointer
    // A handler that fails is done: what is due is published anew by whoever looks after Postgres.
    const declined = await Promise.resolve(handle(pointer)).catch(() => undefined)
    if (declined === 'declined') renameSync(path, join(queue.waiting, name))
    else {
      rmSync(path)
      rmSync(join(queue.ids, jobIdOf(pointer)))
    }
    active -= 1
    if (active === 0) idle()
    look()
  }

  async function stop(): Promise<void> {
    paused = true
    clearInterval(timer)
    if (active > 0) await new Promise<void>((resolve) => (idle = resolve))
  }

  const consumer = {
    async pause() {
      paused = true
    },
    async resume() {
      paused = false
      look()
    },
  }
  setImmediate(look)
  return { consumer, look, stop }
}

/** Moving the file decides between several consumers. */
function take({ waiting, taken }: Queue, name: string): boolean {
  try {
    renameSync(join(waiting, name), join(taken, name))
    return true
  } catch {
    return false
  }
}
