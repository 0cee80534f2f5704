// Hears what comes back to senders, woken by NOTIFY and by a poll, and has their hooks answer it; bounded in number and time.
import type { SenderNotice } from '@baton/store'
import { codeOf } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { answerNotice } from './answer-notice.ts'
import type { AnswerDeps } from './answer-notice.ts'
import type { NoticeHooks } from './notice-hooks.ts'

export interface WatchDeps extends AnswerDeps {
  /** Hooks by the agent that sent. */
  readonly hooks: ReadonlyMap<string, NoticeHooks>
  /** Takes notices with a lease of `correctionMs`. */
  take(wanted: NoticesWanted): Promise<readonly SenderNotice[]>
  listen(onWake: () => void): { close(): Promise<void> }
  readonly logger: Logger
}

export interface NoticesWanted {
  readonly kind: SenderNotice['kind']
  readonly agents: readonly string[]
  readonly limit: number
}

const POLL_MS = 500
const FAILED_WAIT_MS = 2_000
const UNDER_WAY_MAX = 8
const STOP_WAIT_MS = 5_000

/** Watches until stopped; a stop waits up to five seconds for the hooks under way. */
export function createNoticeWatcher(deps: WatchDeps): Service {
  const wanted = kindsWanted(deps.hooks)
  const underWay = new Set<Promise<void>>()
  let stopping = false
  let wake: () => void = () => undefined
  let loop: Promise<void> = Promise.resolve()
  let listener: { close(): Promise<void> } | undefined

  function pause(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  function answer(notice: SenderNotice): void {
    const answering = answerLogged(deps, notice).finally(() => {
      underWay.delete(answering)
      wake()
    })
    underWay.add(answering)
  }

  /** Whether as much was there as was asked for. */
  async function pass(): Promise<boolean> {
    let more = false
    for (const { kind, agents } of wanted) {
      const limit = UNDER_WAY_MAX - underWay.size
      if (limit === 0) return false
      const notices = await deps.take({ kind, agents, limit })
      for (const notice of notices) answer(notice)
      more ||= notices.length === limit
    }
    return more
  }

  async function run(): Promise<void> {
    while (!stopping) {
      // Armed before the pass, so that a NOTIFY that comes during it is not missed.
      const woken = pause(POLL_MS)
      try {
        if (!(await pass())) await woken
      } catch (error) {
        deps.logger.warn({ event: 'notices.unread', code: codeOf(error) })
        if (!stopping) await pause(FAILED_WAIT_MS)
      }
    }
  }

  return {
    name: 'notices',
    async start() {
      listener = deps.listen(() => wake())
      loop = run()
    },
    async stop() {
      stopping = true
      wake()
      await loop
      // A hook that takes longer is not waited for: it is told again elsewhere after its lease.
      await Promise.race([Promise.all(underWay), pause(STOP_WAIT_MS)])
      wake()
      await listener?.close()
    },
  }
}

function kindsWanted(
  hooks: ReadonlyMap<string, NoticeHooks>,
): readonly Omit<NoticesWanted, 'limit'>[] {
  const having = (hook: keyof NoticeHooks) =>
    [...hooks].filter(([, own]) => own[hook] !== undefined).map(([agent]) => agent)
  const all = [
    { kind: 'return', agents: having('onReturn') },
    { kind: 'rollback', agents: having('onRollback') },
  ] as const
  return all.filter(({ agents }) => agents.length > 0)
}

// The code alone: a hook's message could carry what the handoff said.
async function answerLogged(deps: WatchDeps, notice: SenderNotice): Promise<void> {
  const { kind, handoffId, taskId, attempt } = notice
  try {
    await answerNotice(deps, notice, deps.hooks.get(notice.fromAgent) ?? {})
    deps.logger.debug({ event: 'notice.answered', kind, handoffId, taskId, attempt })
  } catch (error) {
    const code = codeOf(error)
    deps.logger.warn({ event: 'notice.unanswered', code, kind, handoffId, taskId, attempt })
  }
}
