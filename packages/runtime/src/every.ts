// Work that a process does again and again: never twice at once, and a stop waits for the run under way.
import type { Service } from './service.ts'

interface PeriodicWork {
  readonly name: string
  /** From the end of one run to the begin of the next. */
  readonly everyMs: number
  /** From the start to the begin of the first run; at once by default. */
  readonly firstAfterMs?: number
  /** Whether a process lives on for the next run; true by default. */
  readonly holdsProcess?: boolean
  /**
   * One run. `stopping` aborts when a stop begins, for runs that can end early. Answers how long to
   * wait before the next where that is not `everyMs`: 0 goes on at once, Infinity waits for `wake`.
   */
  run(stopping: AbortSignal): Promise<number | void>
  /**
   * Is told why a run failed and how many have in a row, and says so in the log; work goes on all the
   * same. Answers like `run`.
   */
  failed(error: unknown, failures: number): number | void
}

/** `start` begins the first run and does not wait for it. */
export interface Periodic extends Service {
  /** Begins the next run now; while one is under way, another follows at once. */
  wake(): void
}

/** Makes a service of work that is to be done every so often, from its start to its stop. */
export function every(work: PeriodicWork): Periodic {
  const { name, everyMs, firstAfterMs = 0, holdsProcess = true, run, failed } = work
  const stopping = new AbortController()
  let isWoken = false
  let endPause: () => void = () => undefined
  let failures = 0
  let running: Promise<void> = Promise.resolve()

  async function oneRun(): Promise<number> {
    try {
      const waitMs = await run(stopping.signal)
      failures = 0
      return waitMs ?? everyMs
    } catch (error) {
      failures += 1
      return failed(error, failures) ?? everyMs
    }
  }

  // What woke it during the last run counts too: it may have come after that run had looked.
  async function pause(waitMs: number): Promise<void> {
    if (waitMs > 0 && !isWoken && !stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = waitMs === Infinity ? undefined : setTimeout(resolve, waitMs)
        if (!holdsProcess) timer?.unref()
        endPause = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    isWoken = false
  }

  async function runUntilStopped(): Promise<void> {
    if (firstAfterMs > 0) await pause(firstAfterMs)
    while (!stopping.signal.aborted) await pause(await oneRun())
  }

  return {
    name,
    wake() {
      isWoken = true
      endPause()
    },
    async start() {
      running = runUntilStopped()
    },
    async stop() {
      stopping.abort()
      endPause()
      await running
    },
  }
}
