// An A2A agent anywhere, as an agent of Baton: what it is doing is known again after its restart and after ours.
import type { Part, StreamResponse, Task } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import type { Agent, AgentContext, AgentResult } from '@baton/engine'
import { HandoffCanceled } from '@baton/engine'
import type { EndpointFetchOptions } from '@baton/http/endpoint'
import type { AgentRegistration, JsonObject, JsonValue } from '@baton/protocol'
import { permanent } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'
import { defineAgent } from './agent.ts'
import { createRemote, isUnknownTask, refusedBy } from './a2a-remote.ts'
import type { Remote, RemoteClient, RemoteOptions } from './a2a-remote.ts'
import { readAnswer, toRequest } from './a2a-messages.ts'
import type { A2aAnswer } from './a2a-messages.ts'

export type { A2aAnswer } from './a2a-messages.ts'

export interface A2aAgentOptions extends Omit<AgentRegistration, 'requires'> {
  /** Keys that `currentState` must have (E06). */
  readonly requires?: readonly string[]
  /** Where its agent card is: https, unless `allowPrivate`. */
  readonly cardUrl: string
  /** Sent as a bearer, to the origin of the card alone. */
  readonly token?: string
  /** How long it may take in all; 30 minutes by default, and never longer than the handoff's deadline. */
  readonly timeoutMs?: number
  /** How long it may not be reachable before the attempt fails; 60 s by default. */
  readonly awayMs?: number
  /** Allows addresses in one's own network, and plain http there. */
  readonly allowPrivate?: boolean
  /** How an agent in one's own network is spoken to. */
  readonly tls?: EndpointFetchOptions['tls']
  /** Resolves names; that of the system by default. */
  readonly lookup?: EndpointFetchOptions['lookup']
  /** What its answer is to the task: a result without further steps by default. */
  readonly onAnswer?: (answer: A2aAnswer, context: AgentContext) => Partial<AgentResult>
}

const TIMEOUT_MS = 1_800_000
const AWAY_MS = 60_000
const POLL_MS = 1_000
const POLL_MAX_MS = 15_000
const CANCEL_MS = 5_000
/** How often an agent may lose its task before nobody asks it again. */
const FORGOTTEN_MAX = 3
/** Below what a chunk may have. */
const PART_BYTES_MAX = 60_000
/** The kind of the chunk by which the remote task is known again. */
const TASK_CHUNK = 'a2a.task'

/**
 * Defines an agent that another one does the work of: a handoff becomes a message to it, under the handoff's id in every attempt, and its
 * task is followed by a stream where its card says so, else by asking. The id of the remote task is durable before it is waited for: the
 * next attempt, here or in another process, goes on with it. Throws BATON_AGENT_INVALID, BATON_ADDRESS_REFUSED.
 */
export function defineA2aAgent(options: A2aAgentOptions): Agent {
  const { cardUrl, token, timeoutMs = TIMEOUT_MS, awayMs = AWAY_MS, onAnswer } = options
  const { allowPrivate, tls, lookup, requires = [], ...registered } = options
  const remoteOptions: RemoteOptions = { cardUrl, token, allowPrivate, tls, lookup }
  const remote = createRemote(remoteOptions)
  const { type, version, capabilities, mcp, jurisdiction, contextWindowTokens } = registered
  return defineAgent({
    type,
    version,
    requires,
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(mcp === undefined ? {} : { mcp }),
    ...(jurisdiction === undefined ? {} : { jurisdiction }),
    ...(contextWindowTokens === undefined ? {} : { contextWindowTokens }),
    async execute(context) {
      const timeout = AbortSignal.timeout(timeoutMs)
      const signal = AbortSignal.any([context.signal, timeout])
      const following = createFollowing({ context, signal, awayMs, connect: remote.connect })
      try {
        const answer = await following.untilAnswered()
        return {
          ...resultOf(answer, context),
          ...onAnswer?.(answer, context),
          chunks: following.chunks(),
        }
      } catch (error) {
        if (context.signal.aborted || timeout.aborted) await following.cancel()
        context.signal.throwIfAborted()
        throw timeout.aborted ? TIMED_OUT : error
      }
    },
    close: () => remote.close(),
  })
}

const TIMED_OUT = permanent('BATON_A2A_TIMEOUT', 'the remote agent did not end in time', {
  fix: 'Give it more time by timeoutMs, or a deadline by the handoff.',
})

const resultOf = (answer: A2aAnswer, { state, handoffId }: AgentContext): AgentResult => ({
  subtask: {
    subtaskId: `a2a-${handoffId}`,
    description: 'executed by an agent of A2A',
    result: answer as unknown as JsonObject,
  },
  state,
  costUSD: 0,
  tokens: { prompt: 0, completion: 0 },
  next: [],
})

interface FollowingParts {
  readonly context: AgentContext
  readonly signal: AbortSignal
  readonly awayMs: number
  readonly connect: Remote['connect']
}

/** What the stream of a handoff says of its remote task: what earlier attempts have left, and what this one adds. */
function createNotes({ context }: Pick<FollowingParts, 'context'>) {
  const notes = { seq: 0, taskId: undefined as string | undefined }

  async function emit(kind: string, content: JsonValue): Promise<void> {
    await context.emit({ kind, content }, notes.seq + 1)
    notes.seq += 1
  }

  return {
    notes,
    async recall(): Promise<void> {
      for (;;) {
        const page = await context.committedChunks(notes.seq)
        if (page.length === 0) return
        for (const { seq, kind, content } of page) {
          notes.seq = seq
          if (kind === TASK_CHUNK) notes.taskId = (content as { taskId: string }).taskId
        }
      }
    },
    // Before anything else is done with it: who comes after this process goes on from here.
    async keep(taskId: string, contextId: string): Promise<void> {
      if (taskId === '' || taskId === notes.taskId) return
      notes.taskId = taskId
      await emit(TASK_CHUNK, { taskId, contextId })
    },
    /** What is too large for a chunk stands in the answer all the same. */
    async yield(parts: readonly Part[]): Promise<void> {
      for (const { content } of parts) {
        const value = content?.$case === 'text' || content?.$case === 'data' ? content.value : ''
        if (value === '' || Buffer.byteLength(JSON.stringify(value)) > PART_BYTES_MAX) continue
        await emit(content?.$case ?? 'text', value as JsonValue)
      }
    },
  }
}

/** One execution, from what earlier attempts have left. */
function createFollowing({ context, signal, awayMs, connect }: FollowingParts) {
  const { notes, recall, keep, yield: tell } = createNotes({ context })
  const calling = () => ({ signal, serviceParameters: { traceparent: context.traceparent } })
  let forgotten = 0

  async function ask({ client, streams }: RemoteClient): Promise<A2aAnswer | undefined> {
    const request = toRequest(context)
    if (streams) return listen(client, client.sendMessageStream(request, calling()))
    const sent = await client.sendMessage(request, calling())
    if ('messageId' in sent) return readAnswer(sent)
    await keep(sent.id, sent.contextId)
    return answerOf(sent)
  }

  // Only who asked hears it from the beginning: what comes after a restart stands in the answer.
  async function listen(
    client: Client,
    events: AsyncGenerator<StreamResponse, void, undefined>,
  ): Promise<A2aAnswer | undefined> {
    for await (const event of events) {
      const { payload } = event
      if (payload?.$case === 'message') return readAnswer(payload.value)
      if (payload?.$case === 'task') await keep(payload.value.id, payload.value.contextId)
      else if (payload !== undefined) await keep(payload.value.taskId, payload.value.contextId)
      if (payload?.$case === 'artifactUpdate') await tell(payload.value.artifact?.parts ?? [])
      // Some keep a stream open that nothing comes of any more.
      if (SETTLED.has(stateIn(event))) break
    }
    return notes.taskId === undefined ? undefined : goOn(client, notes.taskId)
  }

  async function goOn(client: Client, id: string): Promise<A2aAnswer | undefined> {
    try {
      return answerOf(await client.getTask({ id, tenant: '' }, calling()))
    } catch (error) {
      forgotten += 1
      if (!isUnknownTask(error) || forgotten > FORGOTTEN_MAX) throw error
      // It has lost its tasks: the same message under the same id asks for it once more.
      notes.taskId = undefined
      return undefined
    }
  }

  return {
    chunks: () => notes.seq,
    async untilAnswered(): Promise<A2aAnswer> {
      await recall()
      let awayUntil: number | undefined
      for (let waitMs = POLL_MS; ; waitMs = Math.min(waitMs * 2, POLL_MAX_MS)) {
        try {
          const remote = await connect()
          const { taskId } = notes
          const answer = await (taskId === undefined ? ask(remote) : goOn(remote.client, taskId))
          if (answer !== undefined) return answer
          awayUntil = undefined
        } catch (error) {
          const refused = refusedBy(error)
          awayUntil ??= performance.now() + awayMs
          const isOver = signal.aborted || performance.now() >= awayUntil
          if (isOver || refused.kind !== 'transient') throw refused
        }
        await pause(waitMs, signal)
      }
    },
    // Only what nobody wants any more: what another process goes on with is left to it.
    async cancel(): Promise<void> {
      const { aborted, reason } = context.signal
      const { taskId: id } = notes
      if (id === undefined || (aborted && !(reason instanceof HandoffCanceled))) return
      try {
        const { client } = await connect()
        const within = { signal: AbortSignal.timeout(CANCEL_MS) }
        await client.cancelTask({ id, tenant: '', metadata: {} }, within)
      } catch {
        // It may have ended, or be away: Baton's own task is canceled all the same.
      }
    },
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms)
    const gone = () => done()
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', gone)
      if (signal.aborted) reject(signal.reason as Error)
      else resolve()
    }
    signal.addEventListener('abort', gone)
    if (signal.aborted) done()
  })
}

/** What a remote task comes to; undefined while it goes on. */
function answerOf(task: Task): A2aAnswer | undefined {
  const state = task.status?.state ?? 0
  if (state === STATES.completed) return readAnswer(task)
  const failure = FAILURES[state]
  if (failure !== undefined) throw failure
  return undefined
}

/** The numbers of the SDK's enumeration, which is loaded only where an agent of A2A works. */
const STATES = {
  completed: 3,
  failed: 4,
  canceled: 5,
  inputRequired: 6,
  rejected: 7,
  authRequired: 8,
}

const SETTLED: ReadonlySet<number> = new Set(Object.values(STATES))

function stateIn({ payload }: StreamResponse): number {
  const tells = payload?.$case === 'task' || payload?.$case === 'statusUpdate'
  return tells ? (payload.value.status?.state ?? 0) : 0
}

const failure = (code: `BATON_${string}`, what: string, fix: string): BatonError =>
  permanent(code, `the remote agent ${what}`, { fix })

const FAILURES: Readonly<Record<number, BatonError>> = {
  [STATES.failed]: failure('BATON_A2A_FAILED', 'failed', 'See its own log.'),
  [STATES.canceled]: failure('BATON_A2A_CANCELED', 'canceled its task', 'Ask whoever runs it.'),
  [STATES.rejected]: failure('BATON_A2A_REJECTED', 'rejected the task', 'Send it what it takes.'),
  [STATES.inputRequired]: failure(
    'BATON_INPUT_REQUIRED',
    'needs more from who asked',
    'Resume the task with what it lacks.',
  ),
  [STATES.authRequired]: failure(
    'BATON_A2A_AUTH_REQUIRED',
    'waits for somebody to authorize it',
    'Authorize it there, then resume the task.',
  ),
}
