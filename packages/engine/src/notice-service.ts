// A sender's hooks at work: what comes back to its agents is taken, answered and acknowledged in this process.
import { randomUUID } from 'node:crypto'
import type { NoticeHooks } from './notice-hooks.ts'
import { createNoticeWatcher } from './watch-notices.ts'
import type { SenderNotice } from '@baton/store'
import type { Logger, Service } from '@baton/runtime'
import { listenToSenders } from '@baton/store'
import type { Returns } from './returns.ts'

interface NoticeParts {
  readonly returns: Returns
  readonly databaseUrl: string
  /** Hooks by the agent that sent. */
  readonly hooks: ReadonlyMap<string, NoticeHooks>
  readonly correctionMs: number
  /** The operator for whom is corrected and resumed; the agent itself where there is none. */
  readonly operator: string | null
  readonly logger: Logger
}

export const CORRECTION_MS = 30_000

/** Answers notices until stopped. Start it only where there are hooks. */
export function noticeService(parts: NoticeParts): Service {
  const { returns, databaseUrl, hooks, correctionMs, operator, logger } = parts
  const taker = randomUUID()
  const actorOf = ({ fromAgent }: SenderNotice): string => operator ?? fromAgent
  return createNoticeWatcher({
    hooks,
    correctionMs,
    take: ({ kind, agents, limit }) =>
      returns.take({ kinds: [kind], agents, taker, leaseMs: correctionMs, limit }),
    acknowledge: async ({ noticeId }) => void (await returns.acknowledge(noticeId, taker)),
    revise: (notice, correction) =>
      returns.revise({
        handoffId: notice.handoffId,
        revision: notice.revision + 1,
        actor: actorOf(notice),
        sentBy: operator,
        correct: () => correction,
      }),
    resume: (request, notice) => returns.resume({ ...request, actor: actorOf(notice) }, operator),
    listen: (onWake) => listenToSenders({ url: databaseUrl, onWake }),
    logger,
  })
}
