// What somebody is told of findings: tampering is counted and pages, a wrong clock and what cannot be proven are said as that.
import { bySeverity, LOG_VERDICTS } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'

interface Reporting {
  readonly metrics: Pick<Metrics, 'auditTamperDetectedTotal' | 'auditTampered'>
  readonly logger: Logger
  /** Who found it, where it was nobody's request. */
  readonly by?: string
}

const FINDINGS_LOGGED_MAX = 10

/** What was found stands until a verification of the whole log finds nothing. */
export function countTampering(metrics: Reporting['metrics']): void {
  metrics.auditTamperDetectedTotal.inc()
  metrics.auditTampered.set(1)
}

/** One event for each way in which it can be wrong, with the first findings of it. */
export function reportFindings(
  found: readonly Finding[],
  { metrics, logger, by }: Reporting,
): void {
  for (const [severity, findings] of bySeverity(found)) {
    const { event } = LOG_VERDICTS[severity]
    const isTampering = event === 'audit.tamper_detected'
    if (isTampering) countTampering(metrics)
    logger[isTampering ? 'error' : 'warn']({
      event,
      ...(by === undefined ? {} : { by }),
      findings: findings.slice(0, FINDINGS_LOGGED_MAX),
    })
  }
}
