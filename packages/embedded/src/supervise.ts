// Keeps one process running: what ends by itself is started again, or left, as the policy says; whoever asks is told what happened.
import { setTimeout as delay } from 'node:timers/promises'
import { decideRestart, recentEndings } from './restart-policy.ts'
import type { Ending } from './restart-policy.ts'

/** How a process ended that nobody had stopped. */
export interface End {
  /** In words, such as `exit code 1` or `SIGKILL`. */
  readonly how: string
  /** The last that it said; empty where it said nothing. */
  readonly words: string
}

/** One process, from where it serves to its end. */
export interface Lifetime {
  readonly pid: number
  /** Resolves when it ends by itself, and never when it is stopped. */
  readonly ended: Promise<End>
}

export interface Supervised {
  readonly name: string
  readonly logPath: string
  /** Begins another life and resolves when it serves, or with its end where it did not come so far. What it throws counts as one. */
  start(): Promise<Lifetime | End>
  /** Undefined where the end was its own fault; otherwise what stood in its way, and how to mend that. */
  obstacle(end: End): string | undefined
}

/** What is told of one supervised process. */
export type SupervisionEvent = { readonly name: string } & (
  | {
      readonly kind: 'ended'
      readonly end: End
      readonly obstacle: string | undefined
      readonly waitMs: number
    }
  | { readonly kind: 'restarted'; readonly pid: number; readonly restarts: number }
  | { readonly kind: 'left'; readonly end: End; readonly endings: number; readonly logPath: string }
)

/** What was seen of one process since its supervision began. */
export interface Seen {
  readonly name: string
  /** Of the process that runs now, or ran last. */
  readonly pid: number
  /** How often it was started again. */
  readonly restarts: number
  /** How it ended last. */
  readonly lastEnd: string | undefined
  /** It kept ending and is not started any more. */
  readonly isLeft: boolean
}

export interface Supervision {
  seen(): Seen
  /** From now on nothing is started, and an end is nobody's business. */
  stop(): void
}

interface Options {
  readonly notify: (event: SupervisionEvent) => void
  /** Aborted by `stop`. */
  readonly stopping?: AbortController
  readonly pause?: (ms: number, stopping: AbortSignal) => Promise<void>
  readonly now?: () => number
}

const NOT_STARTED = 'it did not start'

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined)

/** Supervises `target`, whose first life has begun. */
export function supervise(
  target: Supervised,
  first: Lifetime,
  {
    notify,
    stopping = new AbortController(),
    pause = sleep,
    now = () => performance.now(),
  }: Options,
): Supervision {
  const { name, logPath } = target
  let seen: Seen = { name, pid: first.pid, restarts: 0, isLeft: false, lastEnd: undefined }
  let endings: readonly Ending[] = []
  let obstacleToldOf: string | undefined

  /** How long to wait before another start; undefined where there is none. */
  function decide(end: End): number | undefined {
    const obstacle = target.obstacle(end)
    endings = recentEndings([...endings, { atMs: now(), isItsOwn: obstacle === undefined }])
    const decision = decideRestart(endings)
    const lastEnd = end.how === NOT_STARTED ? seen.lastEnd : end.how
    seen = { ...seen, lastEnd, isLeft: decision === 'leave' }
    if (decision === 'leave') {
      notify({ kind: 'left', name, end, endings: endings.length, logPath })
      return undefined
    }
    const isTold = obstacle !== undefined && obstacle === obstacleToldOf
    obstacleToldOf = obstacle
    if (!isTold) notify({ kind: 'ended', name, end, obstacle, waitMs: decision.waitMs })
    return decision.waitMs
  }

  async function startAgain(): Promise<Lifetime | End> {
    try {
      return await target.start()
    } catch (error) {
      return { how: NOT_STARTED, words: error instanceof Error ? error.message : '' }
    }
  }

  async function keep(): Promise<void> {
    let end = await first.ended
    while (!stopping.signal.aborted) {
      const waitMs = decide(end)
      if (waitMs === undefined) return
      await pause(waitMs, stopping.signal)
      if (stopping.signal.aborted) return
      const started = await startAgain()
      if (stopping.signal.aborted) return
      if ('how' in started) {
        end = started
        continue
      }
      const { pid } = started
      seen = { ...seen, pid, restarts: seen.restarts + 1 }
      obstacleToldOf = undefined
      notify({ kind: 'restarted', name, pid, restarts: seen.restarts })
      end = await started.ended
    }
  }

  void keep()
  return { seen: () => seen, stop: () => stopping.abort() }
}
