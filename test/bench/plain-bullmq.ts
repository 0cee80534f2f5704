// The comparison: plain BullMQ on the same Redis, same payload, nothing durable, checked or audited.
import { Queue, Worker } from 'bullmq'
import { proseOf } from './message.ts'

interface Plan {
  readonly role: 'produce' | 'work'
  readonly redisUrl: string
  readonly prefix: string
  readonly bytes: number
  readonly jobs: number
}

const UNDER_WAY = 64
const plan = JSON.parse(process.argv[2] ?? '{}') as Plan
const { hostname, port, password, username } = new URL(plan.redisUrl)
const connection = {
  host: hostname,
  port: Number(port),
  ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  ...(username === '' ? {} : { username: decodeURIComponent(username) }),
  maxRetriesPerRequest: null,
}
const shared = { connection, prefix: plan.prefix }

async function produce(): Promise<void> {
  const queue = new Queue('plain', shared)
  const payload = { text: proseOf(plan.bytes, 7) }
  let left = plan.jobs
  const startedAt = Date.now()
  const priorityClass = async (): Promise<void> => {
    while (left-- > 0) {
      await queue.add('job', payload, { removeOnComplete: 1_000, removeOnFail: 1_000 })
    }
  }
  await Promise.all(Array.from({ length: UNDER_WAY }, priorityClass))
  await queue.close()
  report(startedAt)
}

async function work(): Promise<void> {
  let done = 0
  let firstAt = 0
  await new Promise<void>((resolve) => {
    const worker = new Worker(
      'plain',
      async () => {
        firstAt ||= Date.now()
        done += 1
        if (done === plan.jobs) resolve()
      },
      { ...shared, concurrency: UNDER_WAY, lockDuration: 10_000 },
    )
    worker.on('error', () => undefined)
    void worker.waitUntilReady().then(() => process.stdout.write('ready\n'))
  })
  report(firstAt)
}

function report(startedAt: number): void {
  const cpu = process.cpuUsage()
  const cpuSeconds = (cpu.user + cpu.system) / 1e6
  process.stdout.write(`${JSON.stringify({ startedAt, endedAt: Date.now(), cpuSeconds })}\n`)
}

await (plan.role === 'produce' ? produce() : work())
process.exit(0)
