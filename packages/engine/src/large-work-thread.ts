// The thread of large-work.ts: does what the event loop would do, and says what it threw.
import type { AgentRegistration, Detail, Verdict } from '@baton/protocol'
import { ProtocolError } from '@baton/protocol'
import { BatonError, serveTasks } from '@baton/runtime'
import { prepareScanner } from '@baton/safety'
import type { SafetyVerdict, Scanner } from '@baton/safety'
import type { ClaimedHandoff, NewHandoff } from '@baton/store'
import { scannerOf } from './active-scanner.ts'
import type { ModelScanner } from './active-scanner.ts'
import { judgeClaimed } from './judge-claimed.ts'
import type { JudgingBy } from './judge-claimed.ts'
import { prepareHandoff } from './prepare-handoff.ts'
import type { HandoffRequest, PrepareOptions } from './prepare-handoff.ts'

/** The options of `prepareHandoff` without functions: of what is known of receivers, what concerns this one. */
export type PlainPreparing = Pick<
  PrepareOptions,
  | 'keyRing'
  | 'attemptsMax'
  | 'sentBy'
  | 'tenant'
  | 'branchId'
  | 'joinsId'
  | 'receiver'
  | 'written'
  | 'paid'
> & {
  readonly traceparent?: string
  readonly windowTokens: number | undefined
  readonly threshold: number | undefined
  readonly verbatimTurns: number | undefined
}

/** By which scanner it is judged: that of the process when it was given away. */
export type JudgingModel = Pick<ModelScanner, 'rulesetVersion' | 'model'>

export type LargeTask =
  | {
      readonly work: 'judge'
      readonly claimed: ClaimedHandoff
      readonly agent: AgentRegistration
      readonly by: JudgingBy
      readonly scanner: JudgingModel
    }
  | {
      readonly work: 'scan'
      readonly texts: readonly object[]
      readonly scanner: JudgingModel
    }
  | {
      readonly work: 'prepare'
      readonly request: HandoffRequest
      readonly options: PlainPreparing
    }

export type LargeResult =
  | { readonly work: 'judge'; readonly verdict: Verdict<SafetyVerdict> }
  | { readonly work: 'scan'; readonly isRejected: boolean }
  | { readonly work: 'prepare'; readonly handoff: NewHandoff; readonly isCompressed: boolean }
  | { readonly work: 'prepare'; readonly thrown: Thrown }

/** An error of ours, which no thread can hand over as it is. */
export type Thrown = Pick<BatonError, 'kind' | 'code' | 'message' | 'fix'> & {
  readonly details?: readonly Detail[]
}

void prepareScanner()
let scanner: ModelScanner | undefined

/** Kept until another one is asked for. */
function scanBy({ rulesetVersion, model }: JudgingModel): Scanner['scan'] {
  if (scanner?.rulesetVersion !== rulesetVersion) scanner = scannerOf(model)
  return scanner.scan
}

serveTasks((task: LargeTask): LargeResult => {
  const { work } = task
  switch (work) {
    case 'judge':
      return {
        work,
        verdict: judgeClaimed(task.claimed, task.agent, {
          ...task.by,
          scan: scanBy(task.scanner),
        }),
      }
    case 'scan': {
      const scan = scanBy(task.scanner)
      return { work, isRejected: task.texts.some((text) => scan(text).decision === 'reject') }
    }
    case 'prepare':
      return prepare(task)
  }
})

function prepare({
  request,
  options,
}: Extract<LargeTask, { readonly work: 'prepare' }>): LargeResult {
  let isCompressed = false
  const { windowTokens, threshold, verbatimTurns, ...others } = options
  const bounds = {
    windowTokensOf: () => windowTokens,
    ...(threshold !== undefined && { threshold }),
    ...(verbatimTurns !== undefined && { verbatimTurns }),
  }
  const onCompressed = (): void => {
    isCompressed = true
  }
  try {
    const handoff = prepareHandoff(request, { ...others, bounds, onCompressed })
    return { work: 'prepare', handoff, isCompressed }
  } catch (error) {
    return { work: 'prepare', thrown: thrownOf(error) }
  }
}

// What is none of ours ends the thread.
function thrownOf(error: unknown): Thrown {
  if (error instanceof ProtocolError) {
    const { kind, code, message, fix, details } = error
    return { kind, code, message, fix, details }
  }
  if (!(error instanceof BatonError)) throw error
  const { kind, code, message, fix } = error
  return { kind, code, message, fix }
}
