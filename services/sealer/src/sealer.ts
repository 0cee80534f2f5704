// Seals what the chains gained, once a second; signs nothing that does not extend what it signed before.
import { inSnapshot, storeSeal } from '@baton/audit'
import type { Anchor, Pool } from '@baton/audit'
import type { Finding, Policy } from '@baton/ledger'
import { codeOf, crashPoint, kindOf } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { KeyObject } from 'node:crypto'
import { anchorSeal } from './anchoring.ts'
import { checkChains } from './check-chains.ts'
import type { CheckedChains } from './check-chains.ts'
import { signSeal } from './sign-seal.ts'
import { checkStartPatiently } from './start-checks.ts'
import { readState, writeState } from './state-file.ts'
import type { SealerState } from './state-file.ts'

export interface SealerOptions {
  /** Connected as audit_sealer. */
  readonly pool: Pool
  readonly statePath: string
  readonly signingKey: string
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Made when the state is known: a witness is asked from the size that it acknowledged. */
  readonly anchors: (anchored: () => SealerState['anchored']) => readonly Anchor[]
  readonly policy: Policy | undefined
  readonly everyMs: number
  readonly heartbeatMs: number
  readonly anchorEveryMs: number
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Records of one chain in one round: a long catch-up is saved on its way. */
const RECORDS_MAX = 100_000
const FINDINGS_LOGGED_MAX = 10

/** Stays up and unready after a finding, so that what it saw can be read from its metrics and log. */
export class Sealer implements Service {
  readonly name = 'sealer'
  readonly #options: SealerOptions
  readonly #anchors: readonly Anchor[]
  #state: SealerState | undefined
  /** Whether the database may lack the newest seal: none follows before it is there. */
  #unpublished = false
  #halted = false
  #started = false
  #stopped = false
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #anchoring: Promise<void> = Promise.resolve()
  #sealedAt = Number.NEGATIVE_INFINITY
  #anchoredAt = Number.NEGATIVE_INFINITY

  constructor(options: SealerOptions) {
    this.#options = options
    this.#anchors = options.anchors(() => this.#state?.anchored ?? {})
  }

  /** False once something was found that must not be sealed; only a person and a restart end that. */
  get sealing(): boolean {
    return !this.#halted
  }

  async start(): Promise<void> {
    const { pool, logger, statePath } = this.#options
    this.#state = await readState(statePath)
    await checkStartPatiently(this.#state, { pool, anchors: this.#anchors, logger })
    if (this.#state !== undefined) await this.#publish(this.#state)
    this.#started = true
    if (!this.#halted) this.#next()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#running
    if (this.#started && !this.#halted) await this.#guardedRound()
    this.#anchorWhenDue(true)
    await this.#anchoring
    await this.#options.pool.end()
  }

  #next(): void {
    this.#running = this.#guardedRound()
  }

  async #guardedRound(): Promise<void> {
    const { logger, everyMs } = this.#options
    try {
      await this.#round()
    } catch (error) {
      if (kindOf(error) === 'defect') this.#haltFor('SEAL_LOG', String(codeOf(error)))
      logger.error({ event: 'seal.failed', code: codeOf(error), error })
    }
    if (this.#stopped || this.#halted) return
    this.#timer = setTimeout(() => this.#next(), everyMs)
  }

  async #round(): Promise<void> {
    const { pool, batchKeys, heartbeatMs } = this.#options
    const state = this.#state
    if (state !== undefined && this.#unpublished) await this.#publish(state)
    if (this.#halted) return
    const checked = await inSnapshot(pool, (snapshot) =>
      checkChains(snapshot, { state, batchKeys, recordsMax: RECORDS_MAX }),
    )
    if (checked.findings.length > 0) return this.#halt(checked.findings)
    const isQuiet = !checked.grew && performance.now() - this.#sealedAt < heartbeatMs
    if (state === undefined || !isQuiet) await this.#seal(checked)
    const size = this.#state?.tree.size
    const isBehind = this.#anchors.some(({ name }) => this.#state?.anchored[name]?.size !== size)
    if (isBehind) this.#anchorWhenDue(false)
  }

  async #seal(checked: CheckedChains): Promise<void> {
    const { signingKey, statePath, metrics } = this.#options
    const nowMicros = Date.now() * 1_000
    const next = signSeal(checked.chains, { signingKey, nowMicros, previous: this.#state })
    crashPoint('sealer.before_state')
    await writeState(statePath, next)
    this.#state = next
    this.#unpublished = true
    await this.#publish(next)
    this.#sealedAt = performance.now()
    metrics.sealsTotal.inc()
    crashPoint('sealer.after_publish')
  }

  async #publish(next: SealerState): Promise<void> {
    crashPoint('sealer.before_publish')
    if (await storeSeal(this.#options.pool, next.seal)) this.#unpublished = false
    else this.#haltFor('SEAL_LOG', 'another entry stands in its place in the database')
  }

  #anchorWhenDue(isLast: boolean): void {
    const { anchorEveryMs, logger } = this.#options
    const isDue = isLast || performance.now() - this.#anchoredAt >= anchorEveryMs
    const sealed = this.#state
    if (sealed === undefined || this.#unpublished || this.#halted || !isDue) return
    this.#anchoredAt = performance.now()
    this.#anchoring = this.#anchoring
      .then(() => this.#showAnchors(sealed))
      .catch((error: unknown) =>
        logger.warn({ event: 'seal.anchor_failed', code: codeOf(error), error }),
      )
  }

  async #showAnchors(sealed: SealerState): Promise<void> {
    const { pool, policy, logger } = this.#options
    const result = await anchorSeal(sealed, { pool, anchors: this.#anchors, policy, logger })
    if (this.#state !== undefined) this.#state = { ...this.#state, anchored: result.anchored }
    if (result.conflict !== undefined) this.#haltFor('SEAL_ANCHOR', result.conflict)
  }

  #haltFor(rule: Finding['rule'], message: string): void {
    const last = this.#state?.seal.seq ?? null
    this.#halt([{ origin: 'seals', seq: last, rule, message }])
  }

  #halt(findings: readonly Finding[]): void {
    const { metrics, logger } = this.#options
    this.#halted = true
    metrics.auditTamperDetectedTotal.inc()
    const shown = findings.slice(0, FINDINGS_LOGGED_MAX)
    logger.error({ event: 'audit.tamper_detected', findings: shown })
  }
}
