// The campaign's agents. Each execution writes down what it did, in a file of its process, outside the system.
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineAgent, permanent, transient } from '@baton/sdk'
import type { AgentContext, AgentResult, JoinHandoff, NextHandoff } from '@baton/sdk'
import type { LedgerLine } from './effect-ledger.ts'

// Processes in containers have the same number.
const file = join(process.env['BATON_CHAOS_FOLDER'] ?? '.', `effects-${randomUUID()}.jsonl`)
const TICK_MS = 100
const CHUNK_MS = 60
const CHUNKS = 40

/** The machine's own time, whatever the process believes of its clock. */
const trueNow = (): number => performance.timeOrigin + performance.now()

function note(context: AgentContext, more: Pick<LedgerLine, 'what' | 'costMicroUSD'>): void {
  const line: LedgerLine = {
    ...more,
    handoffId: context.handoffId,
    taskId: context.taskId,
    fencingToken: context.fencingToken,
    attempt: context.attempt,
    key: context.idempotencyKey('effect'),
    traceparent: context.traceparent,
    pid: process.pid,
    at: trueNow(),
  }
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

interface Step {
  readonly workMs: number
  readonly next?: readonly NextHandoff[]
  readonly join?: JoinHandoff
  /** How many chunks it yields in all, one with each tick of its work. */
  readonly chunks?: number
}

// A cost of its own for every fencing token: a cost that was charged for another fencing token shows.
const costOf = ({ fencingToken }: AgentContext): number => 1_000 + fencingToken

/** Goes on after what earlier attempts have committed. Each chunk says under which fencing token it was emitted. */
async function emitChunks(context: AgentContext, count: number): Promise<void> {
  let last = 0
  for (let page = await context.committedChunks(); page.length > 0;) {
    last = page.at(-1)?.seq ?? last
    page = await context.committedChunks(last)
  }
  for (let seq = last + 1; seq <= count && !context.signal.aborted; seq += 1) {
    await context.emit({ content: { fencingToken: context.fencingToken } }, seq)
    await new Promise((resolve) => setTimeout(resolve, CHUNK_MS))
  }
}

async function execute(context: AgentContext, step: Step): Promise<AgentResult> {
  const { workMs, next = [], join, chunks } = step
  const costMicroUSD = costOf(context)
  note(context, { what: 'start', costMicroUSD })
  // Counted in ticks, not by the clock: a process that was stopped still has its work before it.
  for (let left = workMs; left > 0 && !context.signal.aborted; left -= TICK_MS) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(TICK_MS, left)))
    if (workMs > TICK_MS) note(context, { what: 'tick', costMicroUSD })
  }
  if (chunks !== undefined) await emitChunks(context, chunks)
  note(context, { what: context.signal.aborted ? 'aborted' : 'end', costMicroUSD })
  return {
    subtask: {
      subtaskId: 'work',
      description: 'write the ledger',
      result: { fencingToken: context.fencingToken },
    },
    state: { text: 'passed on' },
    costUSD: costMicroUSD / 1_000_000,
    tokens: { prompt: 1, completion: 1 },
    next,
    ...(join === undefined ? {} : { join }),
    ...(chunks === undefined ? {} : { chunks }),
  }
}

const passOn = (to: string): NextHandoff => ({ to, taskDescription: 'go on' })
/** What all branches come to, also where one of them fails. */
const joinAll: JoinHandoff = { to: 'last', taskDescription: 'bring it together', onFailure: 'skip' }
const workMs = (context: AgentContext): number =>
  typeof context.state['workMs'] === 'number' ? context.state['workMs'] : 5

const agent = (type: string, run: (context: AgentContext) => Promise<AgentResult>) =>
  defineAgent({ type, version: '1.0.0', requires: ['text'], execute: run })

/** For what other protocols ask: their texts stand under members of their own. */
const open = defineAgent({
  type: 'open',
  version: '1.0.0',
  requires: [],
  execute: (context) => execute(context, { workMs: workMs(context), next: [passOn('last')] }),
})

const fails = (context: AgentContext): never => {
  note(context, { what: 'start', costMicroUSD: 0 })
  throw transient('BATON_CHAOS_FLAKY', 'fails on purpose')
}

export const agents = [
  open,
  agent('last', (context) => execute(context, { workMs: workMs(context) })),
  agent('chain', (context) =>
    execute(context, { workMs: workMs(context), next: [passOn('last')] }),
  ),
  agent('fork', (context) =>
    execute(context, { workMs: workMs(context), next: [passOn('last'), passOn('last')] }),
  ),
  agent('trio', (context) =>
    execute(context, {
      workMs: 5,
      next: [passOn('last'), passOn('last'), passOn('last')],
      join: joinAll,
    }),
  ),
  agent('quorum', (context) =>
    execute(context, {
      workMs: 5,
      next: [passOn('last'), passOn('broken'), passOn('last')],
      join: joinAll,
    }),
  ),
  agent('race', (context) =>
    execute(context, {
      workMs: 5,
      next: [passOn('last'), passOn('trio'), passOn('streamed')],
      join: { ...joinAll, waitFor: 'any' },
    }),
  ),
  agent('strict', (context) =>
    execute(context, {
      workMs: 5,
      next: [passOn('last'), passOn('broken'), passOn('streamed')],
      join: { ...joinAll, waitFor: 2, onFailure: 'fail' },
    }),
  ),
  agent('nested', (context) =>
    execute(context, { workMs: 5, next: [passOn('trio'), passOn('last')], join: joinAll }),
  ),
  agent('streamed', (context) => execute(context, { workMs: workMs(context), chunks: CHUNKS })),
  agent('flaky', async (context) =>
    context.attempt === 1 ? fails(context) : execute(context, { workMs: 5 }),
  ),
  agent('failing', async (context) => fails(context)),
  agent('broken', async (context) => {
    note(context, { what: 'start', costMicroUSD: 0 })
    throw permanent('BATON_CHAOS_BROKEN', 'never succeeds')
  }),
  agent('poison', async (context) => {
    note(context, { what: 'start', costMicroUSD: 0 })
    process.kill(process.pid, 'SIGKILL')
    return execute(context, { workMs: 1_000 })
  }),
]
