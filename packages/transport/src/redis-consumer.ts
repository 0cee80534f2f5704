// The receiving side of the Redis doorbell: one BullMQ worker per agent type that is consumed.
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { Worker, WaitingError } from 'bullmq'
import type { Job as BullJob } from 'bullmq'
import { queueNameOf } from './queue-name.ts'
import { consumerOptions, logErrors } from './redis-connection.ts'
import { createRunningHandlers } from './running-handlers.ts'
import type { RunningHandlers } from './running-handlers.ts'
import { isPointer } from './transport.ts'
import type { ConsumeOptions, Consumer, Pointer } from './transport.ts'

/** A killed process's jobs go to another worker within lock + check, measured at 9 to 11 s. */
const LOCK_MS = 10_000
const STALLED_CHECK_MS = 2_500
/** Poisonous handoffs are counted in Postgres; BullMQ must never fail one without running it. */
const STALLED_MAX = 1_000
/** Longest blocking read; a queue that was paused elsewhere is looked at again this often. */
const BLOCKING_READ_SECONDS = 2
const RETRY_AFTER_ERROR_MS = 1_000
const FINISHED_KEPT = 2_000
/** How long a stop waits for Redis to be told, once every handler has ended. */
const FAREWELL_MS = 3_000

interface ConsumerOptions extends ConsumeOptions {
  readonly url: string
  readonly prefix: string
  readonly logger: Logger
}

interface State {
  paused: boolean
  /** False from the moment a stop gives up on Redis: connections then end instead of retrying. */
  wanted: boolean
}

type PointerJob = BullJob<unknown, void>

export function startRedisConsumer(options: ConsumerOptions): Consumer {
  const running = createRunningHandlers()
  const state: State = { paused: false, wanted: true }
  const worker = openWorker(options, { running, state })
  let stopping: Promise<void> | undefined
  return {
    async pause() {
      state.paused = true
      await worker.pause(true)
    },
    async resume() {
      state.paused = false
      await worker.resume()
    },
    stop: () => (stopping ??= stopWorker(worker, { running, state })),
  }
}

interface Parts {
  readonly running: RunningHandlers
  readonly state: State
}

// Everything about one worker is made here, so that it can be made again when it stops fetching.
function openWorker(options: ConsumerOptions, { running, state }: Parts): Worker<unknown, void> {
  const { url, prefix, queue, concurrency, logger } = options
  const worker = new Worker<unknown, void>(
    queueNameOf(queue),
    (job, token) => running.track(() => runJob(job, { options, state, token })),
    {
      connection: { url, ...consumerOptions(() => state.wanted) },
      prefix,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: STALLED_MAX,
      drainDelay: BLOCKING_READ_SECONDS,
      runRetryDelay: RETRY_AFTER_ERROR_MS,
      removeOnComplete: { count: FINISHED_KEPT },
      removeOnFail: { count: FINISHED_KEPT },
      skipVersionCheck: true,
    },
  )
  logErrors(worker, logger, `consumer ${queue}`)
  return worker
}

interface Run {
  readonly options: ConsumerOptions
  readonly state: State
  readonly token: string | undefined
}

async function runJob(job: PointerJob, { options, state, token }: Run): Promise<void> {
  if (state.paused) await giveBack(job, token)
  const { logger, handle } = options
  if (!isPointer(job.data)) {
    logger.error({ event: 'job.malformed', jobId: job.id })
    throw failure('BATON_POINTER_MALFORMED')
  }
  await runHandler(job.data, { handle, logger })
}

// The worker may have asked for this job before the pause reached it.
async function giveBack(job: PointerJob, token: string | undefined): Promise<never> {
  await job.moveToWait(token)
  throw new WaitingError()
}

async function runHandler(
  pointer: Pointer,
  { handle, logger }: Pick<ConsumerOptions, 'handle' | 'logger'>,
): Promise<void> {
  try {
    await handle(pointer)
  } catch (error) {
    const code = codeOf(error)
    logger.error({ event: 'job.failed', handoffId: pointer.handoffId, code })
    throw failure(code)
  }
}

// BullMQ stores message and stack in Redis, where payload text has no business: only the code goes.
function failure(code: string): Error {
  const error = new Error(code)
  error.stack = code
  return error
}

async function stopWorker(worker: Worker<unknown, void>, { running, state }: Parts): Promise<void> {
  const closing = worker.close()
  await running.idle()
  let timer: NodeJS.Timeout | undefined
  const farewell = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FAREWELL_MS)
  })
  await Promise.race([closing, farewell])
  clearTimeout(timer)
  state.wanted = false
}
