// The campaign's agents. Each execution writes down what it did, in a file of its process, outside the system.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineAgent, permanent, transient } from '@baton/sdk'
import type { AgentContext, AgentResult, NextHandoff } from '@baton/sdk'
import type { LedgerLine } from './effect-ledger.ts'

const file = join(process.env['BATON_CHAOS_FOLDER'] ?? '.', `effects-${process.pid}.jsonl`)
const TICK_MS = 100

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
}

// A cost of its own for every fencing token: a cost that was charged for another fencing token shows.
const costOf = ({ fencingToken }: AgentContext): number => 1_000 + fencingToken

async function execute(context: AgentContext, { workMs, next = [] }: Step): Promise<AgentResult> {
  const costMicroUSD = costOf(context)
  note(context, { what: 'start', costMicroUSD })
  // Counted in ticks, not by the clock: a process that was stopped still has its work before it.
  for (let left = workMs; left > 0 && !context.signal.aborted; left -= TICK_MS) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(TICK_MS, left)))
    if (workMs > TICK_MS) note(context, { what: 'tick', costMicroUSD })
  }
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
  }
}

const passOn = (to: string): NextHandoff => ({ to, taskDescription: 'go on' })
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
