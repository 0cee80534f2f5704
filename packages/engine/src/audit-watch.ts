// While the audit store is down nothing is claimed: work waits in the queue instead of burning attempts (E12).
import type { AuditClient } from '@baton/audit/client'
import { isReady } from '@baton/http/client'
import type { Logger } from '@baton/runtime'
import type { Consumer } from '@baton/transport'

interface WatchParts {
  readonly client: AuditClient
  readonly auditUrl: string
  readonly consumers: () => readonly Consumer[]
  readonly logger: Logger
}

const PROBE_MS = 500
const ANSWER_MS = 1_000

/** Pauses the consumers when the audit breaker opens and resumes them once the auditor is ready again. */
export function watchAudit({ client, auditUrl, consumers, logger }: WatchParts): { close(): void } {
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function probe(): Promise<void> {
    if (closed) return
    if (await isReady(auditUrl, ANSWER_MS)) {
      client.unblock()
      logger.info({ event: 'audit.back' })
      await Promise.all(consumers().map((consumer) => consumer.resume()))
      return
    }
    timer = setTimeout(() => void probe(), PROBE_MS)
  }

  client.onBlocked((blocked) => {
    if (!blocked || closed) return
    logger.warn({ event: 'audit.blocked' })
    clearTimeout(timer)
    void Promise.all(consumers().map((consumer) => consumer.pause())).then(probe)
  })
  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
