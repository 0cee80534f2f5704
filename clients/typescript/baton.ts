/**
 * Baton over HTTP for browsers, Deno, Bun and Node: nothing but `fetch`. Copy this file and generated/ beside your program.
 *
 *     const baton = createBaton({ url: 'http://127.0.0.1:8420', key: 'bk_...' })
 *     const sent = await baton.send({ agentState, targetAgentType: 'summarise' })          // scope handoffs:send
 *     await baton.work({ type: 'summarise', version: '1.0.0' }, async (execution) => ({    // scope executions:claim
 *       outcome: 'complete',
 *       result: { summary: execution.context.slice(0, 20) },
 *     }))
 *
 * What was sent is durable once `send` resolves, what was settled once `settle` does. Both may be repeated.
 */
import { PLACES } from './generated/operations.ts'
import type {
  ClaimedExecutions,
  ClaimRequest,
  EmitRequest,
  Operations,
  SettleRequest,
  StreamPage,
} from './generated/operations.ts'

export interface BatonOptions {
  /** Of the gateway. */
  readonly url: string
  /** An API key. */
  readonly key: string
  readonly fetch?: typeof globalThis.fetch
}

export type Execution = ClaimedExecutions['executions'][number]
export type Chunk = StreamPage['chunks'][number]
/** How a stream ended; `complete` where its result is of exactly these chunks. */
export type StreamEnd = Omit<StreamPage, 'chunks'>
type Settlement = SettleRequest['executions'][number]
/** How an execution ended: a settlement without the members that say which execution it is. */
export type Outcome = Settlement extends infer One
  ? One extends unknown
    ? Omit<One, 'handoffId' | 'fencingToken'>
    : never
  : never

type Name = keyof Operations
type Asked<Of extends Name> = Partial<Pick<Operations[Of], 'inPath' | 'query' | 'body'>> & {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** What Baton refused: `code` is stable, `fix` says how to mend it, `errors` name places as JSON pointers. */
export class BatonError extends Error {
  readonly status: number
  readonly code: string
  readonly fix: string
  readonly errors: readonly { readonly pointer: string; readonly message: string }[]

  constructor(status: number, problem: Problem) {
    const { code = 'BATON_UNREADABLE_ANSWER', detail = '', fix = '', errors = [] } = problem
    super(fix === '' ? `${code}: ${detail}` : `${code}: ${detail}. ${fix}`)
    this.name = 'BatonError'
    this.status = status
    this.code = code
    this.fix = fix
    this.errors = errors
  }
}

interface Problem {
  readonly code?: string
  readonly detail?: string
  readonly fix?: string
  readonly errors?: BatonError['errors']
}

const TRIES_MAX = 6
const WAIT_MAX_MS = 20_000
const HEARTBEATS_PER_LEASE = 3
/** How long who follows a stream waits for more of it. */
const FOLLOW_WAIT_MS = 200
/** So soon `work` notices that it shall stop. */
const WORK_WAIT_MS = 5_000
/** What passes by itself: overload, restarts, a first request with the same key under way. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504])

export type Baton = ReturnType<typeof createBaton>

/** The operations of a gateway, one call each. */
function createCalls({ url, key, fetch = globalThis.fetch }: BatonOptions) {
  const base = url.replace(/\/+$/, '')

  /** Any operation of the gateway, once; throws BatonError for every answer but a success. */
  async function once<Of extends Name>(
    name: Of,
    asked: Asked<Of>,
  ): Promise<Operations[Of]['answer']> {
    const [method, template] = PLACES[name]
    const inPath = (asked.inPath ?? {}) as Readonly<Record<string, string>>
    const path = template.replaceAll(/\{(\w+)\}/g, (_, part: string) =>
      encodeURIComponent(inPath[part] ?? ''),
    )
    const query = Object.entries(asked.query ?? {}).map(
      ([member, value]) => `${encodeURIComponent(member)}=${encodeURIComponent(String(value))}`,
    )
    const response = await fetch(`${base}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...asked.headers,
      },
      ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
      ...(asked.signal === undefined ? {} : { signal: asked.signal }),
    })
    const answer: unknown = await response.json().catch(() => ({}))
    if (response.ok) return answer as Operations[Of]['answer']
    const after = Number(response.headers.get('retry-after') ?? Number.NaN)
    const problem = (answer ?? {}) as Problem
    throw Object.assign(new BatonError(response.status, problem), { retryAfterMs: after * 1_000 })
  }

  /** The same, tried again where that may help: for what is safe to repeat. */
  async function repeat<Of extends Name>(
    name: Of,
    asked: Asked<Of>,
  ): Promise<Operations[Of]['answer']> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await once(name, asked)
      } catch (error) {
        asked.signal?.throwIfAborted()
        if (tried === TRIES_MAX || !mayPass(error)) throw error
        await pause(waitMs(tried, error), asked.signal)
      }
    }
  }

  return { once, repeat }
}

/** Results that come in chunks while an execution works. */
function createStreams({ repeat }: Pick<ReturnType<typeof createCalls>, 'repeat'>) {
  /** Follows the stream of a handoff: every chunk after that number, once, in order. Returns how it ended. */
  async function* follow(
    handoffId: string,
    { after = 0, signal }: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Chunk, StreamEnd> {
    for (let last = after; ;) {
      const asked = { inPath: { id: handoffId }, query: { after: last } }
      const page = await repeat('readChunks', { ...asked, ...(signal && { signal }) })
      for (const chunk of page.chunks) {
        last = chunk.seq
        yield chunk
      }
      const { chunks, ...end } = page
      if (end.ended && (end.erased || last >= end.committed)) return end
      if (chunks.length === 0) await pause(FOLLOW_WAIT_MS, signal)
    }
  }

  return {
    follow,
    /** Adds chunks to the stream of an execution, the first under the number `seq`; durable once it resolves. Safe to repeat. */
    emit: ({ handoffId, fencingToken }: Execution, seq: number, chunks: EmitRequest['chunks']) =>
      repeat('emitChunks', { inPath: { id: handoffId }, body: { fencingToken, seq, chunks } }),
  }
}

export function createBaton(options: BatonOptions) {
  const { once, repeat } = createCalls(options)

  const settle = async (execution: Execution, outcome: Outcome) => {
    const { handoffId, fencingToken, traceparent } = execution
    const settlement = { handoffId, fencingToken, ...outcome } as Settlement
    const body = { executions: [settlement] }
    const { executions } = await repeat('settleExecutions', { body, headers: { traceparent } })
    return executions[0]
  }

  /**
   * Runs one execution under heartbeats and settles it; its signal aborts once it is canceled or lost. An outcome that Baton cannot take
   * fails the execution for good, and not its worker.
   */
  async function execute(execution: Execution, handler: Handler) {
    const stopped = new AbortController()
    const { handoffId, fencingToken, leaseMs } = execution
    const beats = setInterval(() => {
      const body = { executions: [{ handoffId, fencingToken }] }
      once('keepExecutions', { body }).then(
        ({ executions: [kept] }) => {
          if (kept?.held !== true || kept.canceledUntil !== null) stopped.abort()
        },
        () => undefined,
      )
    }, leaseMs / HEARTBEATS_PER_LEASE)
    try {
      return await settle(execution, await outcomeOf(execution, handler, stopped.signal))
    } catch (error) {
      if (!(error instanceof BatonError && REFUSED.has(error.status))) throw error
      return await settle(execution, { outcome: 'fail', code: 'RESULT_REFUSED' })
    } finally {
      clearInterval(beats)
    }
  }

  /** Claims handoffs of an agent type; waits up to 20 s where there are none. */
  async function claim(body: ClaimRequest, signal?: AbortSignal): Promise<readonly Execution[]> {
    const asked = { body, ...(signal === undefined ? {} : { signal }) }
    return (await repeat('claimExecutions', asked)).executions
  }

  return {
    once,
    repeat,
    claim,
    ...createStreams({ repeat }),
    execute,
    settle,
    /** Sends a handoff; one key for all its tries, so that it is sent once. */
    send: (
      body: Operations['sendHandoff']['body'],
      { idempotencyKey = crypto.randomUUID() }: { readonly idempotencyKey?: string } = {},
    ) => repeat('sendHandoff', { body, headers: { 'idempotency-key': `"${idempotencyKey}"` } }),
    /** Claims, executes and settles one after the other until the signal aborts. Rejects where claims are refused. */
    async work(
      agent: ClaimRequest['agent'],
      handler: Handler,
      signal?: AbortSignal,
    ): Promise<void> {
      while (signal?.aborted !== true) {
        const claimed = await claim({ agent, waitMs: WORK_WAIT_MS }, signal).catch((error) => {
          if (signal?.aborted === true) return []
          throw error
        })
        for (const execution of claimed) await execute(execution, handler)
      }
    },
  }
}

/** Answers what came of it. What it throws counts as a failure that may be tried again; its text goes nowhere. */
export type Handler = (execution: Execution, signal: AbortSignal) => Promise<Outcome>

// What is no JSON could not be told either.
async function outcomeOf(
  execution: Execution,
  handler: Handler,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const outcome = await handler(execution, signal)
    JSON.stringify(outcome)
    return outcome
  } catch (error) {
    if (error instanceof BatonError) throw error
    return { outcome: 'fail', code: 'AGENT_THREW', retry: true }
  }
}

/** What is sent again as it is will be refused again. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422])

const mayPass = (error: unknown): boolean =>
  !(error instanceof BatonError) ||
  PASSING.has(error.status) ||
  error.code === 'BATON_IDEMPOTENCY_KEY_RUNNING'

function waitMs(tried: number, error: unknown): number {
  const { retryAfterMs = Number.NaN } = error as { readonly retryAfterMs?: number }
  const wanted = Number.isNaN(retryAfterMs) ? Math.random() * 200 * 2 ** tried : retryAfterMs
  return Math.min(wanted, WAIT_MAX_MS)
}

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
