// What takes more than some milliseconds because of a message's size is done in threads, so that nobody else's message waits for
// it: judging it, scanning what an execution yields, and compressing, signing and saving what is sent.
import { judgeEnded, ProtocolError } from '@baton/protocol'
import type { AgentRegistration, Verdict } from '@baton/protocol'
import { BatonError, createThreads, transient } from '@baton/runtime'
import type { Logger, TaskOutcome } from '@baton/runtime'
import type { SafetyVerdict } from '@baton/safety'
import type { ClaimedHandoff, NewHandoff } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { createActiveScanner } from './active-scanner.ts'
import type { ActiveScanner } from './active-scanner.ts'
import type { JudgingBy } from './judge-claimed.ts'
import { LARGE_WORK } from './large-work-bounds.ts'
import type { LargeWorkBounds } from './large-work-bounds.ts'
import type { JudgingModel, LargeResult, LargeTask, PlainPreparing } from './large-work-thread.ts'
import { plainSize } from './plain-size.ts'
import { prepareHandoff } from './prepare-handoff.ts'
import type { HandoffRequest, PrepareOptions } from './prepare-handoff.ts'

/** What has more bytes, or characters, is large. Below, the way to a thread and back is not worth its price. */
export const LARGE_BYTES = 49_152

/** Of large ones, so many wait in all, and of one tenant. Beyond that claims go back and senders hear of it. */
const WAITING_MAX = 128
const WAITING_SHARE_MAX = 32

interface LargeWorkParts extends LargeWorkBounds {
  /** That of the process, by which its threads judge as well; that of the package by default. */
  readonly scanner?: ActiveScanner | undefined
  readonly metrics: Pick<Metrics, 'largeWorkTotal'>
  readonly logger: Logger
}

export type PreparingOptions = PrepareOptions & { readonly traceparent?: string }

/** One for each process. It has no thread until there is something large; tenants take turns. */
export interface LargeWork {
  /** Judges a large handoff; undefined where nobody can now, and it should be claimed again in a while. */
  judge(
    claimed: ClaimedHandoff,
    agent: AgentRegistration,
    by: JudgingBy,
  ): Promise<Verdict<SafetyVerdict> | undefined>
  /** Whether the scanner rejects one of these large texts; what it cannot read to the end is rejected. Throws BATON_LARGE_WORK_FULL. */
  rejects(tenant: string, texts: readonly object[]): Promise<boolean>
  /** Builds, signs and saves what is asked for, here where it is small. Throws what `prepareHandoff` does, BATON_LARGE_WORK_FULL and BATON_LARGE_WORK_ENDED. */
  prepare(request: HandoffRequest, options: PreparingOptions): Promise<NewHandoff>
  /** Ends the threads, when nothing needs them any more. */
  close(): Promise<void>
}

export function createLargeWork({ metrics, logger, ...bounds }: LargeWorkParts): LargeWork {
  const { threadsMax = LARGE_WORK.threadsMax, endMs = LARGE_WORK.endMs } = bounds
  const { scanner = createActiveScanner() } = bounds
  const threads = createThreads<LargeTask, LargeResult>({
    module: new URL('large-work-thread.ts', import.meta.url),
    threadsMax,
    endMs,
    waitingMax: WAITING_MAX,
    waitingShareMax: WAITING_SHARE_MAX,
  })

  async function run<Task extends LargeTask>(
    tenant: string,
    task: Task,
    ids: object = {},
  ): Promise<TaskOutcome<Extract<LargeResult, { readonly work: Task['work'] }>>> {
    const outcome = await threads.run(tenant, task)
    const { work } = task
    metrics.largeWorkTotal.with({ work, outcome: outcome.kind }).inc()
    if (outcome.kind === 'ended')
      logger.error({ event: 'large_work.ended', work, why: outcome.why, tenant, ...ids })
    return outcome as TaskOutcome<Extract<LargeResult, { readonly work: Task['work'] }>>
  }

  return {
    async judge(claimed, agent, by) {
      const { handoffId, taskId, body: bytes, keyId, signature } = claimed
      const task = judgeTask(claimed, agent, { by, scanner })
      const outcome = await run(claimed.tenant, task, { handoffId, taskId })
      if (outcome.kind === 'refused') return undefined
      if (outcome.kind === 'ended') return judgeEnded({ bytes, keyId, signature }, by)
      return outcome.result.verdict
    },
    async rejects(tenant, texts) {
      const outcome = await run(tenant, { work: 'scan', texts, scanner: plainScanner(scanner) })
      if (outcome.kind === 'refused') throw FULL
      return outcome.kind === 'ended' || outcome.result.isRejected
    },
    async prepare(request, options) {
      const { tenant, onCompressed } = options
      const size = plainSize(request)
      if (size === undefined || size <= LARGE_BYTES) return prepareHandoff(request, options)
      const task = { work: 'prepare', request, options: plainOf(request, options) } as const
      const outcome = await run(tenant ?? '', task)
      if (outcome.kind === 'refused') throw FULL
      if (outcome.kind === 'ended') throw ENDED
      const { result } = outcome
      if ('thrown' in result) throw errorOf(result.thrown)
      if (result.isCompressed) onCompressed?.()
      return result.handoff
    },
    close: threads.close,
  }
}

/** What a thread needs to judge by this scanner, without functions. */
export function judgeTask(
  claimed: ClaimedHandoff,
  agent: AgentRegistration,
  { by, scanner }: { readonly by: JudgingBy; readonly scanner: JudgingModel },
): Extract<LargeTask, { readonly work: 'judge' }> {
  const { keyRing, people, lostFacts, held } = by
  return {
    work: 'judge',
    claimed,
    agent: registrationOf(agent),
    by: { keyRing, people, lostFacts, held },
    scanner: plainScanner(scanner),
  }
}

const plainScanner = ({ rulesetVersion, model }: JudgingModel): JudgingModel => ({
  rulesetVersion,
  model,
})

const FULL = transient(
  'BATON_LARGE_WORK_FULL',
  'as many large messages wait to be worked on as may',
  { fix: 'Send it again in a while, and spread large messages over time.' },
)

const ENDED = transient(
  'BATON_LARGE_WORK_ENDED',
  'building the message took more time or memory than a message may take, and was ended',
  { fix: 'Send less, or a reference to the data. If it was only a busy moment, send it again.' },
)

type Thrown = Extract<LargeResult, { readonly thrown: unknown }>['thrown']

const errorOf = ({ kind, code, message, fix, details }: Thrown): Error => {
  const [first, ...others] = details ?? []
  return first === undefined
    ? new BatonError(kind, code, message, fix === undefined ? {} : { fix })
    : new ProtocolError(code, [first, ...others])
}

// An agent may bring functions, which no thread takes.
const registrationOf = (agent: AgentRegistration): AgentRegistration => {
  const { type, version, requires, capabilities, mcp, jurisdiction, contextWindowTokens } = agent
  return {
    type,
    version,
    requires,
    ...(capabilities && { capabilities }),
    ...(mcp && { mcp }),
    jurisdiction,
    ...(contextWindowTokens !== undefined && { contextWindowTokens }),
  }
}

function plainOf(request: HandoffRequest, options: PreparingOptions): PlainPreparing {
  const { keyRing, attemptsMax, sentBy = null, tenant = null } = options
  const { branchId = null, joinsId = null, receiver, bounds, written, paid, traceparent } = options
  const { threshold, verbatimTurns } = bounds ?? {}
  const windowTokens = bounds?.windowTokensOf(receiver ?? request.targetAgentType)
  const by = { keyRing, attemptsMax, sentBy, tenant, branchId, joinsId, receiver }
  const at = traceparent === undefined ? {} : { traceparent }
  return { ...by, ...at, written, paid, windowTokens, threshold, verbatimTurns }
}
