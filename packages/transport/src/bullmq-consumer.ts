// The receiving side of BullMQ: one worker per agent type that is consumed.
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { WaitingError } from 'bullmq'
import type { Job as BullJob, Processor } from 'bullmq'
import { startFetchWatchdog } from './fetch-watchdog.ts'
import { logErrors } from './bullmq-errors.ts'
import { queueNameOf } from './bullmq-queues.ts'
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
const COMPLETED_KEPT_SECONDS = 300
const FAILED_KEPT_SECONDS = 3_600
/** How long a stop waits for the queue to be told, once every handler has ended. */
const CLOSE_MS = 3_000

type PointerJob = BullJob<unknown, void>
/** The part of BullMQ's worker that is used here. */
export interface PointerWorker {
  pause(withoutWaiting: boolean): Promise<void>
  resume(): Promise<void>
  /** Forced, it waits neither for handlers nor for an answer of its server. */
  close(force?: boolean): Promise<void>
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** What every worker is opened with. */
const WORKER_SETTINGS = {
  lockDuration: LOCK_MS,
  stalledInterval: STALLED_CHECK_MS,
  maxStalledCount: STALLED_MAX,
  drainDelay: BLOCKING_READ_SECONDS,
  runRetryDelay: RETRY_AFTER_ERROR_MS,
  removeOnComplete: { age: COMPLETED_KEPT_SECONDS, count: FINISHED_KEPT },
  removeOnFail: { age: FAILED_KEPT_SECONDS, count: FINISHED_KEPT },
} as const
export type WorkerSettings = typeof WORKER_SETTINGS & { readonly concurrency: number }

/** How a worker is made, and what it does when a stop no longer waits for it. */
export interface WorkerBackend {
  openWorker(
    name: string,
    processor: Processor<unknown, void>,
    settings: WorkerSettings,
  ): PointerWorker
  /** Called once, after the worker was closed or the time for that ran out. */
  letGo(): Promise<void>
}

interface ConsumerOptions extends ConsumeOptions {
  readonly backend: WorkerBackend
  /** Jobs that wait in this consumer's queue. */
  readonly waiting: () => Promise<number>
  /** How long nothing may arrive while jobs wait. */
  readonly stuckMs?: number
  readonly logger: Logger
}

interface State {
  paused: boolean
}

/** Starts to take jobs at once; a worker that stops fetching is made anew, once. */
export function startBullmqConsumer(options: ConsumerOptions): Consumer {
  const { queue, concurrency, waiting, onStuck, stuckMs, logger } = options
  const running = createRunningHandlers()
  const state: State = { paused: false }
  const parts: Parts = { running, state, fetched: () => watchdog.fetched() }
  let worker = openWorker(options, parts)
  let stopping: Promise<void> | undefined
  const watchdog = startFetchWatchdog({
    queue,
    waiting,
    wantsWork: () => !state.paused && running.count < concurrency,
    recreate() {
      worker.close(true).catch(() => undefined)
      worker = openWorker(options, parts)
    },
    onStuck,
    logger,
    ...(stuckMs === undefined ? {} : { stuckMs }),
  })
  async function stop(): Promise<void> {
    watchdog.close()
    await stopWorker(worker, running)
    await options.backend.letGo()
  }
  return {
    async pause() {
      state.paused = true
      await worker.pause(true)
    },
    async resume() {
      state.paused = false
      await worker.resume()
    },
    stop: () => (stopping ??= stop()),
  }
}

interface Parts {
  readonly running: RunningHandlers
  readonly state: State
  fetched(): void
}

// Everything about one worker is made here, so that it can be made again when it stops fetching.
function openWorker(options: ConsumerOptions, { running, state, fetched }: Parts): PointerWorker {
  const { backend, queue, concurrency, logger } = options
  const processor: Processor<unknown, void> = (job, token) => {
    fetched()
    return running.track(() => runJob(job, { options, state, token }))
  }
  const settings = { ...WORKER_SETTINGS, concurrency }
  const worker = backend.openWorker(queueNameOf(queue), processor, settings)
  logErrors(worker, logger, `consumer ${queue}`)
  return worker
}

interface Run {
  readonly options: ConsumerOptions
  readonly state: State
  readonly token: string | undefined
}

async function runJob(job: PointerJob, { options, state, token }: Run): Promise<void> {
  if (state.paused) await putBack(job, token)
  const { logger, handle } = options
  if (!isPointer(job.data)) {
    logger.error({ event: 'job.malformed', jobId: job.id })
    throw failure('BATON_POINTER_MALFORMED')
  }
  if ((await runHandler(job.data, { handle, logger })) === 'declined') await putBack(job, token)
}

// Also for what the worker had asked for before a pause reached it.
async function putBack(job: PointerJob, token: string | undefined): Promise<never> {
  await job.moveToWait(token)
  throw new WaitingError()
}

async function runHandler(
  pointer: Pointer,
  { handle, logger }: Pick<ConsumerOptions, 'handle' | 'logger'>,
): Promise<void | 'declined'> {
  try {
    return await handle(pointer)
  } catch (error) {
    const code = codeOf(error)
    logger.error({ event: 'job.failed', handoffId: pointer.handoffId, code })
    throw failure(code)
  }
}

// BullMQ stores message and stack, where payload text has no business: only the code goes.
function failure(code: string): Error {
  const error = new Error(code)
  error.stack = code
  return error
}

async function stopWorker(worker: PointerWorker, running: RunningHandlers): Promise<void> {
  const closing = worker.close()
  await running.idle()
  let timer: NodeJS.Timeout | undefined
  const closed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS)
  })
  await Promise.race([closing, closed])
  clearTimeout(timer)
}
