// Runs in threads what would hold the event loop too long. Everything about it is bounded: how many threads, how much waits, how
// much memory and time one task takes. Whoever gives more than others waits for themselves.
import { Worker } from 'node:worker_threads'

export type TaskOutcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  /** By its hard end, or because it ended its thread; what it had begun is lost. */
  | { readonly kind: 'ended'; readonly why: 'took too long' | 'ended its thread' }
  /** It was not begun, or given up for no fault of its own: as much waits as may, no thread could be had, or all were closed. */
  | { readonly kind: 'refused' }

export interface ThreadsOptions {
  /** Calls `serveTasks`. */
  readonly module: URL
  /** Most threads at once; each is made when it is needed, and goes when it has been idle for a minute. */
  readonly threadsMax: number
  /** Tasks that may wait in all; beyond it each share may still have one. */
  readonly waitingMax: number
  /** Tasks of one share that may wait. */
  readonly waitingShareMax: number
  /** How long a task may run until its thread is ended. */
  readonly endMs: number
  readonly heapMiBMax?: number
}

export interface Threads<Task, Result> {
  /**
   * Runs the task in a thread; rejects only where it is no value that a thread can be given. Shares take turns, and each runs at most all threads but one where there are several:
   * what one of them gives waits behind its own.
   */
  run(share: string, task: Task): Promise<TaskOutcome<Result>>
  /** Ends every thread; what waits or runs is refused. */
  close(): Promise<void>
}

const IDLE_MS = 60_000
/** How long a thread may take to load its module. */
const LOAD_MS = 60_000
const HEAP_MIB_MAX = 256

interface Waiting<Task, Result> {
  readonly task: Task
  readonly answer: (outcome: TaskOutcome<Result>) => void
  readonly fail: (error: unknown) => void
}

interface Thread {
  readonly worker: Worker
  readonly isReady: Promise<boolean>
  idle?: NodeJS.Timeout
}

export function createThreads<Task, Result>(options: ThreadsOptions): Threads<Task, Result> {
  const { module, threadsMax, waitingMax, waitingShareMax, endMs } = options
  const shareMax = Math.max(1, threadsMax - 1)
  // The share whose turn is next comes first.
  const waiting = new Map<string, Waiting<Task, Result>[]>()
  const runningOf = new Map<string, number>()
  const idle: Thread[] = []
  const threads = new Set<Thread>()
  let waitingCount = 0
  let running = 0
  let isClosed = false

  function start(): Thread {
    const resourceLimits = { maxOldGenerationSizeMb: options.heapMiBMax ?? HEAP_MIB_MAX }
    // Nothing of the environment is any of its business: what it needs comes with the task.
    const worker = new Worker(module, { env: {}, resourceLimits })
    const thread: Thread = { worker, isReady: isLoaded(worker) }
    threads.add(thread)
    worker.once('exit', () => {
      threads.delete(thread)
      clearTimeout(thread.idle)
      const at = idle.indexOf(thread)
      if (at !== -1) idle.splice(at, 1)
    })
    return thread
  }

  function rest(thread: Thread): void {
    if (!threads.has(thread)) return
    thread.worker.unref()
    idle.push(thread)
    thread.idle = setTimeout(() => void thread.worker.terminate(), IDLE_MS)
    thread.idle.unref()
  }

  async function runIn(thread: Thread, task: Task): Promise<TaskOutcome<Result>> {
    const { worker } = thread
    clearTimeout(thread.idle)
    worker.ref()
    const isReady = await thread.isReady
    const outcome: TaskOutcome<Result> =
      isReady && !isClosed ? await answerOf(worker, task, endMs) : { kind: 'refused' }
    if (outcome.kind === 'done') return outcome
    // The next task does not wait for the end of a thread that is busy dying.
    threads.delete(thread)
    const gone = worker.terminate()
    if (!isClosed) return outcome
    await gone
    return { kind: 'refused' }
  }

  function takeNext(): readonly [string, Waiting<Task, Result>] | undefined {
    for (const [share, queue] of waiting) {
      if ((runningOf.get(share) ?? 0) >= shareMax) continue
      const next = queue.shift()
      waiting.delete(share)
      if (queue.length > 0) waiting.set(share, queue)
      if (next === undefined) continue
      waitingCount -= 1
      return [share, next]
    }
    return undefined
  }

  function startNext(): void {
    while (running < threadsMax) {
      const next = takeNext()
      if (next === undefined) return
      void runNext(...next)
    }
  }

  async function runNext(share: string, next: Waiting<Task, Result>): Promise<void> {
    running += 1
    runningOf.set(share, (runningOf.get(share) ?? 0) + 1)
    const thread = idle.pop() ?? start()
    try {
      next.answer(await runIn(thread, next.task))
    } catch (error) {
      next.fail(error)
    }
    running -= 1
    const left = (runningOf.get(share) ?? 1) - 1
    if (left === 0) runningOf.delete(share)
    else runningOf.set(share, left)
    rest(thread)
    startNext()
  }

  return {
    run(share, task) {
      if (isClosed) return Promise.resolve({ kind: 'refused' })
      const queue = waiting.get(share) ?? []
      const isFull = queue.length >= (waitingCount >= waitingMax ? 1 : waitingShareMax)
      if (isFull) return Promise.resolve({ kind: 'refused' })
      return new Promise((answer, fail) => {
        queue.push({ task, answer, fail })
        waiting.set(share, queue)
        waitingCount += 1
        startNext()
      })
    },
    async close() {
      isClosed = true
      for (const { answer } of [...waiting.values()].flat()) answer({ kind: 'refused' })
      waiting.clear()
      waitingCount = 0
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }
}

/** Whether a thread has loaded its module; until then it says nothing. */
function isLoaded(worker: Worker): Promise<boolean> {
  return new Promise((resolve) => {
    const tooLate = setTimeout(resolve, LOAD_MS, false)
    worker.once('message', () => {
      clearTimeout(tooLate)
      resolve(true)
    })
    // Whoever runs a task in it hears of it too; a thread that dies idle is only gone.
    for (const event of ['error', 'exit'])
      worker.on(event, () => {
        clearTimeout(tooLate)
        resolve(false)
      })
  })
}

function answerOf<Result>(
  worker: Worker,
  task: unknown,
  endMs: number,
): Promise<TaskOutcome<Result>> {
  return new Promise((resolve, reject) => {
    const listenNoMore = (): void => {
      clearTimeout(end)
      worker.off('message', done).off('error', died).off('exit', died)
    }
    const finish = (outcome: TaskOutcome<Result>): void => {
      listenNoMore()
      resolve(outcome)
    }
    const done = (result: Result): void => finish({ kind: 'done', result })
    const died = (): void => finish({ kind: 'ended', why: 'ended its thread' })
    const end = setTimeout(finish, endMs, { kind: 'ended', why: 'took too long' })
    worker.once('message', done).once('error', died).once('exit', died)
    try {
      worker.postMessage(task)
    } catch (error) {
      listenNoMore()
      reject(error as Error)
    }
  })
}
