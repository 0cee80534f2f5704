// What agents outside do with an execution, however they got it: they write it down as the hosted ones do, keep it and settle it.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerLine } from './effect-ledger.ts'
import { pause } from './fault.ts'

export interface OutsideOptions {
  /** Of the gateway, through its link. */
  readonly url: string
  readonly key: string
  readonly folder: string
  readonly leaseMs: number
}

/** What an agent outside is given of one execution, whether it asked or was called. */
export interface Execution {
  readonly handoffId: string
  readonly fencingToken: number
  readonly taskId: string
  readonly attempt: number
  readonly traceparent: string
  readonly idempotencyKey: string
  readonly message: {
    readonly currentState: { readonly workMs?: number }
    readonly remainingSubtasks?: readonly object[]
  }
}

/** What is told of an execution: whether the lease holds, or the settlement counted. */
interface Told {
  readonly held?: boolean
  readonly canceledUntil?: string | null
}

export interface OutsideWork {
  /** The answer; undefined where there was none that can be used. */
  ask<Answer>(path: string, body: object): Promise<Answer | undefined>
  /** Works on it under heartbeats and settles it. Never rejects. */
  execute(type: string, execution: Execution): Promise<void>
  /** Works on it until `gone`; answers the settlement, undefined where it was told to stop. */
  answer(type: string, execution: Execution, gone: AbortSignal): Promise<object | undefined>
}

const ANSWER_MAX_MS = 6_000
const SETTLE_TRIES = 20
const PAUSE_MS = 200
const TICK_MS = 100

const trueNow = (): number => performance.timeOrigin + performance.now()

export function createOutsideWork({ url, key, folder, leaseMs }: OutsideOptions): OutsideWork {
  const file = join(folder, `effects-${process.pid}.jsonl`)

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

  function note(execution: Execution, what: LedgerLine['what']): void {
    const { handoffId, taskId, fencingToken, attempt, traceparent, idempotencyKey } = execution
    const line: LedgerLine = {
      what,
      handoffId,
      taskId,
      fencingToken,
      attempt,
      key: `${idempotencyKey}:effect`,
      costMicroUSD: costOf(execution),
      traceparent,
      pid: process.pid,
      at: trueNow(),
    }
    appendFileSync(file, `${JSON.stringify(line)}\n`)
  }

  const costOf = ({ fencingToken }: Execution): number => 1_000 + fencingToken
  const workMsOf = ({ message }: Execution): number => message.currentState.workMs ?? 5

  /** Answers whether it got to its end with the lease still its own, as far as it knows. */
  async function workOn(execution: Execution): Promise<boolean> {
    let knownAt = performance.now()
    for (let left = workMsOf(execution); left > 0; left -= TICK_MS) {
      await pause(Math.min(TICK_MS, left))
      const silentMs = performance.now() - knownAt
      if (silentMs > leaseMs) return false
      if (silentMs < leaseMs / 4) continue
      const sentAt = performance.now()
      const told = await askOf('/v2/executions/heartbeat', execution)
      if (told?.held === false || (told?.canceledUntil ?? null) !== null) return false
      if (told !== undefined) knownAt = sentAt
      note(execution, 'tick')
    }
    return true
  }

  return {
    ask,
    async execute(type, execution) {
      note(execution, 'start')
      const finished = await workOn(execution)
      note(execution, finished ? 'end' : 'aborted')
      if (!finished) return
      const outcome = outcomeOf(type, execution, costOf(execution))
      // Repeated until somebody says what it came to: that is safe, and what an agent does.
      for (let tried = 0; tried < SETTLE_TRIES; tried += 1) {
        if ((await askOf('/v2/executions/settle', execution, outcome)) !== undefined) return
        await pause(PAUSE_MS)
      }
    },
    async answer(type, execution, gone) {
      note(execution, 'start')
      for (let left = workMsOf(execution); left > 0 && !gone.aborted; left -= TICK_MS) {
        await pause(Math.min(TICK_MS, left))
        note(execution, 'tick')
      }
      note(execution, gone.aborted ? 'aborted' : 'end')
      return gone.aborted ? undefined : outcomeOf(type, execution, costOf(execution))
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
  const left = message.remainingSubtasks ?? []
  if (type === 'pulled-parts' && left.length === 0)
    return {
      outcome: 'partial',
      ...work,
      remaining: [{ subtaskId: 'rest', description: 'the rest' }],
    }
  const next = type === 'pulled-chain' ? [{ to: 'last', taskDescription: 'go on' }] : []
  return { outcome: 'complete', ...work, next }
}
