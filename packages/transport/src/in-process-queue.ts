// One queue in memory: bounded, ordered by priority, each job id accepted once while it is known.
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { createPriorityBuffer } from './priority-buffer.ts'
import type { Waiting } from './priority-buffer.ts'
import { createRunningHandlers } from './running-handlers.ts'
import { jobIdOf } from './transport.ts'
import type { ConsumeOptions, Consumer, Job } from './transport.ts'

export interface InProcessQueue {
  readonly waiting: number
  /** Whether the job is waiting or running. */
  knows(jobId: string): boolean
  /** Takes the job; a known id is ignored. Handlers start later, never inside this call. */
  accept(job: Job): void
  consume(options: ConsumeOptions): Consumer
}

interface State {
  readonly logger: Logger
  readonly buffer: ReturnType<typeof createPriorityBuffer>
  readonly known: Set<string>
  readonly pumps: Set<() => void>
}

export function createInProcessQueue(logger: Logger): InProcessQueue {
  const state: State = {
    logger,
    buffer: createPriorityBuffer(),
    known: new Set(),
    pumps: new Set(),
  }
  const wake = createWake(state.pumps)
  return {
    get waiting() {
      return state.buffer.size
    },
    knows: (jobId) => state.known.has(jobId),
    accept({ priority, pointer }) {
      const jobId = jobIdOf(pointer)
      if (state.known.has(jobId)) return
      state.known.add(jobId)
      state.buffer.push(priority, pointer)
      wake()
    },
    consume: (options) => startConsumer(state, options),
  }
}

// However many jobs arrive in one turn of the event loop, consumers look once.
function createWake(pumps: ReadonlySet<() => void>): () => void {
  let scheduled = false
  return () => {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      for (const pump of pumps) pump()
    })
  }
}

function startConsumer(state: State, { concurrency, handle }: ConsumeOptions): Consumer {
  const running = createRunningHandlers()
  let paused = false
  const pump = (): void => {
    while (!paused && running.count < concurrency) {
      const taken = state.buffer.take()
      if (taken === undefined) return
      void running.track(() => runHandler(state, taken, handle)).then(pump)
    }
  }
  state.pumps.add(pump)
  setImmediate(pump)
  return {
    async pause() {
      paused = true
    },
    async resume() {
      paused = false
      pump()
    },
    async stop() {
      paused = true
      state.pumps.delete(pump)
      await running.idle()
    },
  }
}

async function runHandler(
  { buffer, known, logger }: State,
  taken: Waiting,
  handle: ConsumeOptions['handle'],
): Promise<void> {
  const { pointer } = taken
  const jobId = jobIdOf(pointer)
  try {
    if ((await handle(pointer)) === 'declined') return buffer.putBack(taken)
  } catch (error) {
    logger.error({ event: 'job.failed', jobId, handoffId: pointer.handoffId, code: codeOf(error) })
  }
  known.delete(jobId)
}
