// Callers reach the audit store only through the auditor's HTTP interface, with an append token.
import { createHttpClient, HttpRefusal } from '@baton/http/client'
import { BatonError, createBreaker, NO_TLS } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { AuditEntry, Receipt } from '@baton/ledger'

interface AuditClientOptions {
  /** Base URL of the auditor, for example http://127.0.0.1:8421. */
  readonly url: string
  /** The append token. */
  readonly token: string
  /** How long one append may take before it counts as failed. */
  readonly timeoutMs?: number
  /** How an auditor at an https URL is spoken to. */
  readonly tls?: Tls | undefined
}

export interface AuditClient {
  /**
   * Makes entries durable and answers one receipt each, in order (E11). They travel in requests of
   * at most 256 entries and 8 MiB. Safe to repeat: an entry that was recorded before gets its first
   * receipt again with `duplicate: true`.
   * Throws transient errors while the auditor is down, slow or overloaded (E12: nothing executes
   * without a receipt), permanent ones when an entry can never be recorded.
   */
  append(entries: readonly AuditEntry[]): Promise<readonly Receipt[]>
  /**
   * What the log says of receipts that somebody holds, in order; sets of at most 1,000. Throws
   * BATON_AUDIT_UNAVAILABLE while the auditor does not answer.
   */
  checkReceipts(receipts: readonly HeldReceipt[]): Promise<readonly ReceiptState[]>
  /** True while calls are refused at once because the auditor is not answering. */
  readonly blocked: boolean
  /** Sends calls again at once, when the auditor has said that it is ready. */
  unblock(): void
  onBlocked(listener: (blocked: boolean) => void): void
  close(): void
}

/** A receipt of an accepted handoff as its execution holds it; the hash in lower-case hex. */
export interface HeldReceipt {
  readonly handoffId: string
  readonly epoch: number
  readonly hash: string
}

/** `waiting` is recorded, and unsealed for longer than the auditor allows. */
export type ReceiptState = 'sealed' | 'recorded' | 'waiting' | 'different' | 'missing'

/** Connects nothing until the first call; keeps connections alive between calls. */
export function createAuditClient(options: AuditClientOptions): AuditClient {
  const timeoutMs = options.timeoutMs ?? 2_000
  const http = createHttpClient({
    url: options.url,
    name: 'the auditor',
    token: options.token,
    tls: { tls: options.tls ?? NO_TLS, setting: 'BATON_AUDIT_URL' },
    timeoutMs,
    unavailable: {
      code: 'BATON_AUDIT_UNAVAILABLE',
      fix: 'Check that the auditor runs and that its database answers; calls resume by themselves.',
    },
    refused: 'BATON_AUDIT_REFUSED',
  })

  // Both are safe to repeat: an append is idempotent, a check changes nothing.
  const post = <Answer>(path: string, body: object | string): Promise<Answer> =>
    http.json<Answer>(path, { body, repeatable: true }).catch(sayWhere)

  const breaker = createBreaker(
    'auditor',
    (body: string) => post<{ receipts: readonly Receipt[] }>('/v1/records', body),
    { timeoutMs: timeoutMs * 2 + 100, capacity: CALLS_MAX },
  )
  return {
    async append(entries) {
      const receipts: Receipt[] = []
      for (const body of requestBodies(entries)) {
        receipts.push(...(await breaker.fire(body)).receipts)
      }
      return receipts
    },
    async checkReceipts(receipts) {
      const states: ReceiptState[] = []
      for (let from = 0; from < receipts.length; from += RECEIPTS_MAX) {
        const some = receipts.slice(from, from + RECEIPTS_MAX)
        const answer = await post<{ states: ReceiptState[] }>('/v1/receipts/check', {
          receipts: some,
        })
        states.push(...answer.states)
      }
      return states
    },
    get blocked() {
      return breaker.open
    },
    unblock: () => breaker.reset(),
    onBlocked: (listener) => breaker.onChange(listener),
    close() {
      breaker.close()
      http.close()
    },
  }
}

/** Calls under way at once; their entries wait in the auditor, which bounds them itself. */
const CALLS_MAX = 1_024
const RECEIPTS_MAX = 1_000
const ENTRIES_MAX = 256
const BODY_CHARACTERS_MAX = 8 * 1024 * 1024

function requestBodies(entries: readonly AuditEntry[]): string[] {
  const bodies: string[] = []
  let parts: string[] = []
  let characters = 0
  const close = () => {
    if (parts.length > 0) bodies.push(`{"entries":[${parts.join(',')}]}`)
    parts = []
    characters = 0
  }
  for (const entry of entries) {
    const part = JSON.stringify(entry)
    if (parts.length === ENTRIES_MAX || characters + part.length > BODY_CHARACTERS_MAX) close()
    parts.push(part)
    characters += part.length
  }
  close()
  return bodies
}

// The pointer says which of many entries was refused.
function sayWhere(error: unknown): never {
  if (!(error instanceof HttpRefusal)) throw error
  const { kind, code, status, message, fix, pointer } = error
  const where = pointer === undefined ? '' : ` at ${pointer}`
  const context = fix === undefined ? {} : { fix }
  throw new BatonError(kind, code, `the auditor answered ${status}: ${message}${where}`, context)
}
