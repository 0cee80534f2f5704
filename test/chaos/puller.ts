// Agents outside: they claim over HTTP, through the link to the gateway, and write down what they did as the hosted ones do.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerLine } from './effect-ledger.ts'

interface PullersOptions {
  readonly url: string
  readonly key: string
  readonly folder: string
  readonly leaseMs: number
}

export interface Pullers {
  /** Takes nothing more; resolves when what was taken is settled or lost. */
  stop(): Promise<void>
}

interface Execution {
  readonly handoffId: string
  readonly fencingToken: number
  readonly taskId: string
  readonly attempt: number
  readonly traceparent: string
  readonly idempotencyKey: string
  readonly message: { readonly currentState: { readonly workMs?: number } }
}

/** What is told of an execution: whether the lease holds, or the settlement counted. */
interface Told {
  readonly held?: boolean
  readonly canceledUntil?: string | null
}

/** The agent types that pull, and what each does. */
const TYPES = ['pulled', 'pulled-chain', 'pulled-parts'] as const
const LOOPS_PER_TYPE = 2
const ANSWER_MAX_MS = 6_000
const CLAIM_WAIT_MS = 1_000
const PAUSE_MS = 200
const TICK_MS = 100

const trueNow = (): number => performance.timeOrigin + performance.now()
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function startPullers({ url, key, folder, leaseMs }: PullersOptions): Pullers {
  const file = join(folder, `effects-${process.pid}.jsonl`)
  let stopping = false

  /** The answer; undefined where there was none that can be used. */
  async function ask<Answer>(path: string, body: object): Promise<Answer | undefined> {
    try {
      const response = await fetch(new URL(path, url), {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_MAX_MS),
      })
      const answer = (await response.json()) as Answer
      return response.ok ? answer : undefined
    } catch {
      return undefined
    }
  }

  const askOf = async (
    path: string,
    of: Execution,
    more: object = {},
  ): Promise<Told | undefined> => {
    const { handoffId, fencingToken } = of
    const body = { executions: [{ handoffId, fencingToken, ...more }] }
    return (await ask<{ executions: readonly Told[] }>(path, body))?.executions[0]
  }

  function note(execution: Execution, what: LedgerLine['what'], costMicroUSD: number): void {
    const { handoffId, taskId, fencingToken, attempt, traceparent, idempotencyKey } = execution
    const line: LedgerLine = {
      what,
      handoffId,
      taskId,
      fencingToken,
      attempt,
      key: `${idempotencyKey}:effect`,
      costMicroUSD,
      traceparent,
      pid: process.pid,
      at: trueNow(),
    }
    appendFileSync(file, `${JSON.stringify(line)}\n`)
  }

  /** Answers whether it got to its end with the lease still its own, as far as it knows. */
  async function workOn(execution: Execution, costMicroUSD: number): Promise<boolean> {
    let knownAt = performance.now()
    for (let left = execution.message.currentState.workMs ?? 5; left > 0; left -= TICK_MS) {
      await pause(Math.min(TICK_MS, left))
      const silentMs = performance.now() - knownAt
      if (silentMs > leaseMs) return false
      if (silentMs < leaseMs / 4) continue
      const sentAt = performance.now()
      const told = await askOf('/v2/executions/heartbeat', execution)
      if (told?.held === false || (told?.canceledUntil ?? null) !== null) return false
      if (told !== undefined) knownAt = sentAt
      note(execution, 'tick', costMicroUSD)
    }
    return true
  }

  async function execute(type: string, execution: Execution): Promise<void> {
    const costMicroUSD = 1_000 + execution.fencingToken
    note(execution, 'start', costMicroUSD)
    const finished = await workOn(execution, costMicroUSD)
    note(execution, finished ? 'end' : 'aborted', costMicroUSD)
    if (!finished) return
    const outcome = outcomeOf(type, execution, costMicroUSD)
    // Repeated until somebody says what it came to: that is safe, and what an agent does.
    for (let tried = 0; tried < 20; tried += 1) {
      if ((await askOf('/v2/executions/settle', execution, outcome)) !== undefined) return
      await pause(PAUSE_MS)
    }
  }

  async function loop(type: string): Promise<void> {
    const claim = {
      agent: { type, version: '1.0.0', requires: ['text'] },
      max: 4,
      waitMs: CLAIM_WAIT_MS,
    }
    while (!stopping) {
      const claimed = await ask<{ executions: readonly Execution[] }>('/v2/executions/claim', claim)
      if (claimed === undefined) await pause(PAUSE_MS)
      await Promise.all((claimed?.executions ?? []).map((one) => execute(type, one)))
    }
  }

  const loops = TYPES.flatMap((type) => Array.from({ length: LOOPS_PER_TYPE }, () => loop(type)))
  return {
    async stop() {
      stopping = true
      await Promise.all(loops)
    },
  }
}

function outcomeOf(
  type: string,
  { fencingToken, message }: Execution,
  costMicroUSD: number,
): object {
  const work = {
    subtask: { subtaskId: 'work', description: 'write the ledger', result: { fencingToken } },
    state: { text: 'passed on' },
    costUSD: costMicroUSD / 1_000_000,
    tokens: { prompt: 1, completion: 1 },
  }
  const left = (message as { remainingSubtasks?: readonly object[] }).remainingSubtasks ?? []
  if (type === 'pulled-parts' && left.length === 0)
    return {
      outcome: 'partial',
      ...work,
      remaining: [{ subtaskId: 'rest', description: 'the rest' }],
    }
  const next = type === 'pulled-chain' ? [{ to: 'last', taskDescription: 'go on' }] : []
  return { outcome: 'complete', ...work, next }
}
