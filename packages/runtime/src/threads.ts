// Runs in threads what would hold the event loop too long. Everything about it is bounded: how many threads, how much waits, how
// much memory and time one task takes. Whoever gives more than others waits for themselves.
import { Worker } from 'node:worker_threads'
import { createTurns } from './turns.ts'
import type { Turn, TurnBounds } from './turns.ts'

export type TaskOutcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  /** By its hard end, or because it ended its thread; what it had begun is lost. */
  | { readonly kind: 'ended'; readonly why: 'took too long' | 'ended its thread' }
  /** It was not begun, or given up for no fault of its own: as much waits as may, no thread could be had, or all were closed. */
  | { readonly kind: 'refused' }

export interface ThreadsOptions extends Omit<TurnBounds, 'runningMax'> {
  /** Calls `serveTasks`. */
  readonly module: URL
  /** Most threads at once; each is made when it is needed, and goes when it has been idle for a minute. */
  readonly threadsMax: number
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
  const { threadsMax: runningMax, endMs } = options
  const turns = createTurns<Waiting<Task, Result>>({ ...options, runningMax })
  const threads = createIdleThreads(options)
  let isClosed = false

  async function outcomeIn(thread: Thread, task: Task): Promise<TaskOutcome<Result>> {
    if (!(await thread.isReady) || isClosed) return { kind: 'refused' }
    const outcome = await answerOf<Result>(thread.worker, task, endMs)
    return outcome.kind === 'ended' && isClosed ? { kind: 'refused' } : outcome
  }

  async function runNext({ item, end }: Turn<Waiting<Task, Result>>): Promise<void> {
    const thread = threads.take()
    try {
      const outcome = await outcomeIn(thread, item.task)
      if (outcome.kind !== 'done') threads.drop(thread)
      item.answer(outcome)
    } catch (error) {
      item.fail(error)
    }
    end()
    threads.rest(thread)
    startNext()
  }

  function startNext(): void {
    for (let turn = turns.next(); turn !== undefined; turn = turns.next()) void runNext(turn)
  }

  return {
    run: (share, task) =>
      new Promise((answer, fail) => {
        if (isClosed || !turns.add(share, { task, answer, fail })) answer({ kind: 'refused' })
        else startNext()
      }),
    async close() {
      isClosed = true
      for (const { answer } of turns.clear()) answer({ kind: 'refused' })
      await threads.close()
    },
  }
}

/** Threads of one module: made when they are needed, kept for a while. */
function createIdleThreads({ module, heapMiBMax = HEAP_MIB_MAX }: ThreadsOptions) {
  const all = new Set<Thread>()
  const idle: Thread[] = []

  function forget(thread: Thread): void {
    all.delete(thread)
    clearTimeout(thread.idle)
    const at = idle.indexOf(thread)
    if (at !== -1) idle.splice(at, 1)
  }

  function drop(thread: Thread): void {
    // Nobody waits for the end of a thread that is busy dying, and nobody is given it.
    forget(thread)
    void thread.worker.terminate()
  }

  function start(): Thread {
    const resourceLimits = { maxOldGenerationSizeMb: heapMiBMax }
    // Nothing of the environment is any of its business: what it needs comes with the task.
    const worker = new Worker(module, { env: {}, resourceLimits })
    const thread: Thread = { worker, isReady: isLoaded(worker) }
    all.add(thread)
    worker.once('exit', () => forget(thread))
    return thread
  }

  return {
    drop,
    take(): Thread {
      const thread = idle.pop() ?? start()
      clearTimeout(thread.idle)
      thread.worker.ref()
      return thread
    },
    rest(thread: Thread): void {
      if (!all.has(thread)) return
      thread.worker.unref()
      idle.push(thread)
      thread.idle = setTimeout(drop, IDLE_MS, thread)
      thread.idle.unref()
    },
    async close(): Promise<void> {
      await Promise.all([...all].map(({ worker }) => worker.terminate()))
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
