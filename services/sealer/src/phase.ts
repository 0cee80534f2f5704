// Whether a sealer seals, stands by, or has found something that ends its sealing.
import type { Finding } from '@baton/ledger'
import type { SealerOptions } from './sealer-options.ts'

type Reporting = Pick<SealerOptions, 'metrics' | 'logger'>

export type Phase = ReturnType<typeof createPhase>

interface Phases {
  readonly newestSeq: () => number | null
  readonly halted: () => void
}

/** Seals and stands by in turns, and ends for good with the first finding. */
export function createPhase(options: Reporting, { newestSeq, halted }: Phases) {
  let phase: 'starting' | 'standing by' | 'sealing' | 'halted' = 'starting'
  const enter = (next: typeof phase): void => {
    phase = next
    options.metrics.sealerLeading.set(next === 'sealing' ? 1 : 0)
  }
  function halt(findings: readonly Finding[]): void {
    enter('halted')
    report(findings, options)
    halted()
  }
  return {
    get isSealing() {
      return phase === 'sealing'
    },
    get isHalted() {
      return phase === 'halted'
    },
    begin: () => enter('sealing'),
    standBy: () => enter('standing by'),
    halt,
    haltFor(rule: Finding['rule'], message: string): void {
      halt([{ origin: 'seals', seq: newestSeq(), rule, message }])
    },
  }
}

const FINDINGS_LOGGED_MAX = 10

function report(findings: readonly Finding[], { metrics, logger }: Reporting): void {
  metrics.auditTamperDetectedTotal.inc()
  metrics.auditTampered.set(1)
  const shown = findings.slice(0, FINDINGS_LOGGED_MAX)
  logger.error({ event: 'audit.tamper_detected', findings: shown })
}
