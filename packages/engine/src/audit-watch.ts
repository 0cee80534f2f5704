// While the audit store is down nothing is claimed: work waits in the queue instead of burning attempts (E12).
import type { AuditClient } from '@baton/audit/client'
import { isReady } from '@baton/http/client'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service, Tls } from '@baton/runtime'
import type { Consumer } from '@baton/transport'

interface WatchParts {
  readonly client: AuditClient
  /** Of the auditor. */
  readonly url: string
  readonly tls?: Tls | undefined
  readonly consumers: () => readonly Consumer[]
  readonly logger: Logger
}

const PROBE_MS = 500
const ANSWER_MS = 1_000

/** Pauses the consumers when the audit breaker opens and resumes them once the auditor is ready again. */
export function watchAudit(parts: WatchParts): Service {
  const { client, url, tls, consumers, logger } = parts
  const probes = every({
    name: 'audit-watch',
    everyMs: PROBE_MS,
    firstAfterMs: Infinity,
    async run() {
      if (!(await isReady(url, ANSWER_MS, tls))) return PROBE_MS
      client.unblock()
      logger.info({ event: 'audit.back' })
      await Promise.all(consumers().map((consumer) => consumer.resume()))
      return Infinity
    },
    failed: (error) => logger.warn({ event: 'audit.blocked', code: codeOf(error) }),
  })
  let isStopping = false
  client.onBlocked((blocked) => {
    if (!blocked || isStopping) return
    logger.warn({ event: 'audit.blocked' })
    void Promise.all(consumers().map((consumer) => consumer.pause())).then(probes.wake)
  })
  return {
    ...probes,
    stop() {
      isStopping = true
      return probes.stop()
    },
  }
}
