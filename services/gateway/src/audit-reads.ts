// Reads the audit log through the auditor's HTTP interface: the gateway holds no audit credentials but a read token.
import { createBreaker, permanent, transient } from '@baton/runtime'

interface AuditReadsOptions {
  /** Base URL of the auditor. */
  readonly url: string
  readonly readToken: string
}

/** A task as the auditor tells it; passed on as it is. */
export interface AuditTrace {
  readonly records: readonly object[]
  /** Nothing missing, nothing changed. */
  readonly verified: boolean
  readonly [member: string]: unknown
}

export interface AuditReads {
  /** Undefined where the log knows nothing of the task. Throws transient BATON_AUDIT_UNAVAILABLE. */
  trace(taskId: string): Promise<AuditTrace | undefined>
  /** Whether the auditor answers that it is ready. */
  ready(): Promise<boolean>
  close(): void
}

const TIMEOUT_MS = 3_000
const READY_MS = 1_000

export function createAuditReads({ url, readToken }: AuditReadsOptions): AuditReads {
  const headers = { authorization: `Bearer ${readToken}` }

  async function read(taskId: string): Promise<AuditTrace | undefined> {
    const response = await ask(new URL(`/v1/traces/${taskId}`, url), {
      headers,
      timeoutMs: TIMEOUT_MS,
    })
    if (response.status === 404) return undefined
    if (response.status === 401 || response.status === 403) throw TOKEN_REFUSED
    if (!response.ok) throw unavailable(response.status)
    return (await response.json()) as AuditTrace
  }

  const breaker = createBreaker('auditor', read, { timeoutMs: TIMEOUT_MS + 500, capacity: 64 })
  return {
    trace: (taskId) => breaker.fire(taskId),
    async ready() {
      try {
        return (await ask(new URL('/readyz', url), { timeoutMs: READY_MS })).ok
      } catch {
        return false
      }
    },
    close: () => breaker.close(),
  }
}

interface AskOptions {
  readonly headers?: Record<string, string>
  readonly timeoutMs: number
}

// The body is read to its end here, so that the connection can be used again.
async function ask(url: URL, { headers = {}, timeoutMs }: AskOptions): Promise<Response> {
  try {
    const response = await fetch(url, {
      headers,
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    })
    return new Response(await response.arrayBuffer(), { status: response.status })
  } catch (cause) {
    throw unavailable(cause)
  }
}

const unavailable = (cause: unknown) =>
  transient('BATON_AUDIT_UNAVAILABLE', 'the auditor did not answer', { cause })

const TOKEN_REFUSED = permanent('BATON_AUDIT_TOKEN_REFUSED', 'the auditor refused the read token', {
  fix: 'Set BATON_AUDIT_READ_TOKEN to the auditor’s own.',
})
