// Callers reach the audit store only through the auditor's HTTP interface, with an append token.
import { Agent, request as httpRequest } from 'node:http'
import { createBreaker, permanent, transient } from '@baton/runtime'
import type { ErrorCode } from '@baton/runtime'
import type { AuditEntry, Receipt } from '@baton/ledger'

interface AuditClientOptions {
  /** Base URL of the auditor, for example http://127.0.0.1:8421. */
  readonly url: string
  /** The append token. */
  readonly token: string
  /** How long one append may take before it counts as failed. */
  readonly timeoutMs?: number
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

interface Answer {
  readonly status: number
  readonly body: string
}

interface Problem {
  readonly code?: string
  readonly detail?: string
  readonly pointer?: string
  readonly fix?: string
}

const unavailable = (cause: unknown) =>
  transient('BATON_AUDIT_UNAVAILABLE', 'the auditor did not answer', {
    cause,
    fix: 'Check that the auditor runs and that its database answers; calls resume by themselves.',
  })

/** Connects nothing until the first call; keeps connections alive between calls. */
export function createAuditClient(options: AuditClientOptions): AuditClient {
  const timeoutMs = options.timeoutMs ?? 2_000
  const url = new URL('/v1/records', options.url)
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const headers = { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' }

  const postTo = (target: URL, body: string) =>
    new Promise<Answer>((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs)
      const sent = httpRequest(target, { method: 'POST', agent, headers, signal }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        )
      })
      sent.on('error', reject)
      sent.end(body)
    })

  const post = (body: string) => postTo(url, body)
  const checkUrl = new URL('/v1/receipts/check', options.url)
  const breaker = createBreaker('auditor', (body: string) => postReceipts(post, body), {
    timeoutMs: timeoutMs * 2 + 100,
    capacity: CALLS_MAX,
  })
  return {
    async append(entries) {
      const receipts: Receipt[] = []
      for (const body of requestBodies(entries)) receipts.push(...(await breaker.fire(body)))
      return receipts
    },
    async checkReceipts(receipts) {
      const states: ReceiptState[] = []
      for (let from = 0; from < receipts.length; from += RECEIPTS_MAX) {
        const body = JSON.stringify({ receipts: receipts.slice(from, from + RECEIPTS_MAX) })
        const answer = await postAgainIfStale((text) => postTo(checkUrl, text), body)
        if (answer.status !== 200) throw refusal(answer)
        states.push(...(JSON.parse(answer.body) as { states: ReceiptState[] }).states)
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
      agent.destroy()
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

async function postReceipts(
  post: (body: string) => Promise<Answer>,
  body: string,
): Promise<readonly Receipt[]> {
  const answer = await postAgainIfStale(post, body)
  if (answer.status === 200) return (JSON.parse(answer.body) as { receipts: Receipt[] }).receipts
  throw refusal(answer)
}

// A kept connection may have been closed by the other side; the append is idempotent, so repeat it.
async function postAgainIfStale(
  post: (body: string) => Promise<Answer>,
  body: string,
): Promise<Answer> {
  try {
    return await post(body)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ECONNRESET') throw unavailable(error)
    return post(body).catch((second: unknown) => {
      throw unavailable(second)
    })
  }
}

function refusal({ status, body }: Answer): Error {
  const problem = parseProblem(body)
  const code = (problem.code ?? 'BATON_AUDIT_REFUSED') as ErrorCode
  const where = problem.pointer === undefined ? '' : ` at ${problem.pointer}`
  const message = `the auditor answered ${status}: ${problem.detail ?? 'no detail'}${where}`
  const context = problem.fix === undefined ? {} : { fix: problem.fix }
  const again = status >= 500 || status === 429 || status === 408
  return again ? transient(code, message, context) : permanent(code, message, context)
}

function parseProblem(body: string): Problem {
  try {
    return JSON.parse(body) as Problem
  } catch {
    return {}
  }
}
