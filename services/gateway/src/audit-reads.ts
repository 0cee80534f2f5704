// Reads the audit log through the auditor's HTTP interface: the gateway holds no audit credentials but a read token.
import { createHttpClient, HttpRefusal, isReady } from '@baton/http/client'
import { createBreaker, NO_TLS, permanent, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { Gauge } from '@baton/telemetry'

interface AuditReadsOptions {
  /** Base URL of the auditor. */
  readonly url: string
  readonly readToken: string
  readonly tls?: Tls | undefined
}

/** A task as the auditor tells it; passed on as it is. */
export interface AuditTrace {
  readonly records: readonly object[]
  /** Nothing missing, nothing changed. */
  readonly verified: boolean
  readonly [member: string]: unknown
}

export interface LogVerdict {
  readonly verdict: string
  readonly records: number
  readonly findings: readonly object[]
  readonly findingsTotal: number
}

export interface AuditReads {
  /**
   * `absent` where the log never had a record of the task, which is proven; `unproven` where it holds none, and whether
   * it had one cannot be said. Throws transient BATON_AUDIT_UNAVAILABLE.
   */
  trace(taskId: string): Promise<AuditTrace | 'absent' | 'unproven'>
  /** What the auditor says of the whole log, after reading all of it. Throws transient BATON_AUDIT_UNAVAILABLE, also where it takes more than a minute. */
  verify(): Promise<LogVerdict>
  /** Whether the auditor answers that it is ready. */
  ready(): Promise<boolean>
  close(): void
}

const TIMEOUT_MS = 3_000
const VERIFY_MS = 55_000
const READY_MS = 1_000

/** `open` shows whether reads are paused, because the auditor does not answer. */
export function createAuditReads(options: AuditReadsOptions, open: Gauge): AuditReads {
  const { url, readToken, tls = NO_TLS } = options
  const asking = (timeoutMs: number) =>
    createHttpClient({
      url,
      name: 'the auditor',
      token: readToken,
      tls: { tls, setting: 'BATON_AUDIT_URL' },
      timeoutMs,
      unavailable: { code: 'BATON_AUDIT_UNAVAILABLE' },
    })
  const http = asking(TIMEOUT_MS)
  const patient = asking(VERIFY_MS)

  async function read(taskId: string): Promise<AuditTrace | 'absent' | 'unproven'> {
    try {
      return await http.json<AuditTrace>(`/v1/traces/${taskId}`)
    } catch (error) {
      if (!(error instanceof HttpRefusal)) throw error
      if (error.status === 404) return error.code === 'BATON_TASK_UNKNOWN' ? 'absent' : 'unproven'
      throw refusedBy(error)
    }
  }

  async function verify(): Promise<LogVerdict> {
    try {
      return await patient.json<LogVerdict>('/v1/verify')
    } catch (error) {
      throw error instanceof HttpRefusal ? refusedBy(error) : error
    }
  }

  const breaker = createBreaker('auditor', read, { timeoutMs: TIMEOUT_MS + 500, capacity: 64 })
  open.set(0)
  breaker.onChange((isOpen) => open.set(isOpen ? 1 : 0))
  return {
    trace: (taskId) => breaker.fire(taskId),
    verify,
    ready: () => isReady(url, READY_MS, tls),
    close() {
      breaker.close()
      http.close()
      patient.close()
    },
  }
}

const refusedBy = (error: HttpRefusal) =>
  error.status === 401 || error.status === 403
    ? TOKEN_REFUSED
    : transient('BATON_AUDIT_UNAVAILABLE', 'the auditor did not answer', { cause: error })

const TOKEN_REFUSED = permanent('BATON_AUDIT_TOKEN_REFUSED', 'the auditor refused the read token', {
  fix: 'Set BATON_AUDIT_READ_TOKEN to the auditor’s own.',
})
