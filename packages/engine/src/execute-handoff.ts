// Runs agent code under a lease: whoever loses the lease is aborted and can commit nothing.
import type {
  AgentRegistration,
  Detail,
  HandoffMessage,
  JsonValue,
  Jurisdiction,
} from '@baton/protocol'
import { MODEL_PATTERN } from '@baton/protocol/settlement'
import { findJoinedBranch, listChunks } from '@baton/store'
import type { ClaimedHandoff, Pool } from '@baton/store'
import { BatonError, crashPoint, kindOf, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { prepareScanner, renderForAgent } from '@baton/safety'
import type { Summariser, WrittenSummary } from '@baton/summarise'
import { invokeAgentAttributes, startSpan, usageAttributes } from '@baton/telemetry'
import type { Metrics, Span } from '@baton/telemetry'
import type { ActiveScanner } from './active-scanner.ts'
import type { Agent, AgentContext, AgentResult } from './agent.ts'
import { HandoffCanceled } from './agent.ts'
import { callOutside } from './call-outside.ts'
import { createEmitter } from './commit-chunks.ts'
import type { Emitter } from './commit-chunks.ts'
import { readChunk } from './decide/chunks.ts'
import type { Heartbeat, Lease } from './heartbeat.ts'
import type { KnownReceivers } from './known-receivers.ts'
import type { LargeWork } from './large-work.ts'
import type { OutsideAgent } from './outside-agent.ts'
import { summarised } from './summarise-next.ts'

/** How agent code ended. A failure carries a code, never the agent's own text. */
export type Execution =
  | {
      readonly kind: 'done'
      readonly result: AgentResult
      readonly agent: Executing
      readonly traceparent: string
      /** Summaries of what is handed on, by name; the extract where there is none. */
      readonly written?: ReadonlyMap<string, WrittenSummary>
    }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly retry: boolean
      /** The next try comes no sooner. */
      readonly retryAfterMs?: number
      /** Undefined where nobody could execute it. */
      readonly agent?: Executing
    }
  /** The agent will not do it, with a code of its own. */
  | { readonly kind: 'declined'; readonly code: string; readonly agent: Executing }
  /** The agent lacks something that it needs. */
  | { readonly kind: 'blocked'; readonly unmet: readonly Detail[] }
  /** An agent outside has taken it: whoever holds its fencing token settles it. */
  | { readonly kind: 'elsewhere' }
  /** The lease was lost, the deadline passed or the process drained: not the agent's failure. */
  | { readonly kind: 'abandoned' }
  /** A person canceled the handoff, and no result came within the grace. */
  | { readonly kind: 'canceled' }

/** Which agent executed, in records and in what it hands on. */
export type Executing = Pick<AgentRegistration, 'type' | 'version'>

/** An agent whose code runs in this process, or one outside that this process calls. */
export type HostedAgent = Agent | OutsideAgent

interface ExecuteDeps {
  readonly agents: ReadonlyMap<string, HostedAgent>
  readonly heartbeat: Heartbeat
  readonly leaseMs: number
  readonly pool: Pool
  readonly largeWork: LargeWork
  readonly scanner: ActiveScanner
  readonly metrics: Metrics
  readonly logger: Logger
  /** Whom agents hand on to. */
  readonly receivers: KnownReceivers
  /** Who condenses what agents hand on; the extract by default. */
  readonly summariser?: Summariser | undefined
}

/** Executes an accepted handoff; never throws. */
export interface Executor {
  /** The agent that would execute it; what it is judged for. */
  readonly agent: AgentRegistration
  execute(accepted: Accepted): Promise<Execution>
}

/** A handoff that passed every check, with the span it is processed in. */
export interface Accepted {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly span: Span
}

interface HostParts extends Omit<ExecuteDeps, 'agents'> {
  readonly agents: readonly HostedAgent[]
  /** Where this process runs. */
  readonly jurisdiction?: Jurisdiction
}

/** The agents of this process, by their types; one that is not here is tried again elsewhere. */
export function createHost({ agents, jurisdiction, ...deps }: HostParts) {
  const byType = new Map(agents.map((agent) => [agent.type, agent]))
  // Before most is claimed: what is judged first waits only for the rules that it needs. A gateway, which hosts nobody, compiles what it comes to need.
  void prepareScanner()
  return (claimed: ClaimedHandoff): Executor => {
    const type = claimed.routedTo ?? claimed.toAgent
    return {
      agent: placed(byType.get(type) ?? { type, version: '0.0.0', requires: [] }, jurisdiction),
      execute: (accepted) => executeHandoff({ ...deps, agents: byType }, accepted),
    }
  }
}

/** Code runs where its process does; an agent that is called is wherever it says that it is. */
export function placed(agent: AgentRegistration, jurisdiction: Jurisdiction): AgentRegistration {
  const { type, version, requires, capabilities, mcp, contextWindowTokens } = agent
  const place = agent.jurisdiction ?? ('call' in agent ? undefined : jurisdiction)
  return {
    type,
    version,
    requires,
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(mcp === undefined ? {} : { mcp }),
    ...(contextWindowTokens === undefined ? {} : { contextWindowTokens }),
    ...(place === undefined ? {} : { jurisdiction: place }),
  }
}

/** Executes one accepted handoff; never throws. */
export async function executeHandoff(
  deps: ExecuteDeps,
  { claimed, message, span }: Accepted,
): Promise<Execution> {
  const agent = deps.agents.get(claimed.routedTo ?? claimed.toAgent)
  if (agent === undefined) return { kind: 'failed', code: 'BATON_AGENT_UNKNOWN', retry: true }
  const startedAt = performance.now()
  const own = startSpan({
    name: `execute ${agent.type}`,
    kind: 'call' in agent ? 'client' : 'internal',
    parent: span,
    attributes: { ...invokeAgentAttributes(agent, claimed.taskId), 'baton.hop': 'execute' },
  })
  const lease = deps.heartbeat.hold({
    handoffId: claimed.handoffId,
    fencingToken: claimed.fencingToken,
  })
  try {
    crashPoint('receiver.mid_execute')
    const hop = { claimed, message, span: own }
    const came =
      'call' in agent
        ? callOutside({ ...deps, agent, lease }, hop)
        : runAgent({ ...deps, agent, lease }, hop)
    const execution = await untilAborted(
      came.then((done) => summarised(deps, hop, done)),
      lease.over,
    )
    if (execution.kind === 'done') own.setAttributes(usageAttributes(execution.result.tokens))
    own.end(execution.kind === 'failed' ? { error: execution.code } : {})
    return execution
  } catch (error) {
    const stopped = lease.signal.aborted
    const code = stopped ? 'BATON_EXECUTION_ABANDONED' : failureCode(error)
    own.end({ error: code })
    if (lease.signal.reason instanceof HandoffCanceled) return { kind: 'canceled' }
    if (stopped) return { kind: 'abandoned' }
    return { kind: 'failed', code, retry: kindOf(error) === 'transient', agent }
  } finally {
    lease.release()
    deps.metrics.hopSeconds.execute.observe((performance.now() - startedAt) / 1000, own.exemplar)
  }
}

interface RunParts {
  readonly agent: Agent
  readonly pool: Pool
  readonly lease: Lease
  readonly largeWork: LargeWork
  readonly scanner: ActiveScanner
  readonly metrics: Metrics
}

async function runAgent(
  { agent, pool, lease, largeWork, scanner, metrics }: RunParts,
  { claimed, message, span }: Accepted,
): Promise<Execution> {
  const { traceparent } = span
  const emitter = createEmitter({ pool, largeWork, scanner, metrics }, claimed)
  const { signal } = lease
  const context = contextFor({ claimed, message, traceparent, signal, pool, emitter })
  const result = await span.run(() => untilAborted(settled(agent, context, emitter), lease.over))
  checkResult(result)
  const chunks = result.chunks ?? (await emitter.finish())
  return { kind: 'done', result: { ...result, chunks }, agent, traceparent }
}

/** What broke the stream counts before what the agent made of it. */
async function settled(
  agent: Agent,
  context: AgentContext,
  emitter: Emitter,
): Promise<AgentResult> {
  try {
    return await agent.execute(context)
  } finally {
    await emitter.finish()
  }
}

// Nobody waits for an agent that ignores its signal: its fencing token can commit nothing any more.
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject)
  })
}

const CODE = /^BATON_[A-Z0-9_]{1,58}$/

// The code goes into logs, metrics and audit records, so nothing but a code may pass for one.
const failureCode = (error: unknown): string =>
  error instanceof BatonError && CODE.test(error.code) ? error.code : 'BATON_AGENT_FAILED'

const CHUNKS_READ_MAX = 1_000

interface ContextParts {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly traceparent: string
  readonly signal: AbortSignal
  readonly pool: Pool
  readonly emitter: Emitter
}

function contextFor(parts: ContextParts): AgentContext {
  const { claimed, message, traceparent, signal, pool, emitter } = parts
  return {
    message,
    state: message.currentState,
    signal,
    handoffId: claimed.handoffId,
    taskId: claimed.taskId,
    attempt: claimed.attempt,
    fencingToken: claimed.fencingToken,
    traceparent,
    idempotencyKey: (step) => `${claimed.handoffId}:${step}`,
    renderContext: () => renderForAgent(message),
    emit: emitter.emit,
    committedChunks: async (after = 0) =>
      (await listChunks(pool, claimed.handoffId, { after, limit: CHUNKS_READ_MAX })).map(readChunk),
    branchResult: async (name) =>
      (await findJoinedBranch(pool, claimed.handoffId, { name }))?.result as JsonValue | undefined,
  }
}

// Agents may be plain JavaScript; a wrong answer is the agent's failure, not a broken transaction.
function checkResult(result: AgentResult): void {
  const problem = whatIsWrong(result)
  if (problem === undefined) return
  throw permanent('BATON_AGENT_RESULT_INVALID', `the agent answered ${problem}`, {
    fix: 'Return { subtask, state, costUSD, tokens, next } as AgentResult describes.',
  })
}

function whatIsWrong(result: AgentResult | undefined): string | undefined {
  if (typeof result !== 'object' || result === null) return 'nothing'
  if (typeof result.subtask?.subtaskId !== 'string') return 'without subtask'
  if (typeof result.state !== 'object' || result.state === null) return 'without state'
  if (!Number.isFinite(result.costUSD) || result.costUSD < 0) return 'costUSD that is no amount'
  if (!isCount(result.tokens?.prompt) || !isCount(result.tokens.completion)) return 'without tokens'
  if (!Array.isArray(result.next)) return 'without next'
  return whatIsWrongInAdded(result)
}

/** What an answer may have, and need not. */
function whatIsWrongInAdded(result: AgentResult): string | undefined {
  const { model, personalData, chunks = 0 } = result
  if (!isCount(chunks)) return 'chunks that is no number'
  const noList = LISTS.find((name) => result[name] !== undefined && !Array.isArray(result[name]))
  if (noList !== undefined) return `${noList} that is no list`
  if (personalData !== undefined && !Array.isArray(personalData?.dataSubjects))
    return 'personalData without dataSubjects'
  return model === undefined || MODEL.test(model) ? undefined : 'model that is no name'
}

const LISTS = ['remaining', 'conversation', 'toolCalls'] as const

/** It stands in records, so that no text of the work may be in it. */
const MODEL = new RegExp(MODEL_PATTERN)

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
