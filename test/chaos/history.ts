// The driver's history: one line when a send begins, one when its answer is known. The checker reads it back.
import { appendFileSync } from 'node:fs'
import { readLines } from './effect-ledger.ts'

/** How a handoff of this kind must end; several states where a race decides. */
export interface Expectation {
  readonly states: readonly string[]
  readonly reason?: string
}

/** `info`: nobody knows whether it was stored. */
export type Outcome = 'ok' | 'fail' | 'info'

export interface Invocation {
  readonly what: 'invoke'
  readonly at: number
  readonly handoffId: string
  readonly attempt: number
  readonly taskId: string
  readonly traceId: string
  readonly kind: string
  readonly via: string
  readonly expect: Expectation
  /** SHA-256 (hex) of the request as it was asked; absent where it is not kept word for word. */
  readonly askedSha256?: string
}

export interface Answer {
  readonly what: Outcome
  readonly at: number
  readonly handoffId: string
  readonly attempt: number
  readonly code?: string
}

export type HistoryEvent = Invocation | Answer

/** One send with all its attempts. */
export interface Operation extends Pick<
  Invocation,
  'handoffId' | 'taskId' | 'traceId' | 'kind' | 'via' | 'expect' | 'askedSha256'
> {
  /** Acknowledged once is acknowledged; refused is what every attempt said. */
  readonly outcome: 'acknowledged' | 'unknown' | 'refused'
  /** When the first attempt began. */
  readonly at: number
}

export interface History {
  record(event: HistoryEvent): void
}

export function createHistory(file: string): History {
  return { record: (event) => appendFileSync(file, `${JSON.stringify(event)}\n`) }
}

/** The operations of a history file; an attempt without an answer is unknown. */
export function readOperations(file: string): readonly Operation[] {
  return operationsOf(readLines<HistoryEvent>(file))
}

/** Ways in that give a handoff an id of their own. */
const OWN_IDS: ReadonlySet<string> = new Set(['api', 'session'])

/** The operations under the ids that the handoffs have: one that has an id of its own is the first of the task that was named. */
export function underStoredIds(
  operations: readonly Operation[],
  handoffs: readonly {
    readonly id: string
    readonly taskId: string
    readonly parentId: string | null
  }[],
): readonly Operation[] {
  const first = new Map(
    handoffs.filter(({ parentId }) => parentId === null).map(({ id, taskId }) => [taskId, id]),
  )
  return operations.map((one) =>
    OWN_IDS.has(one.via) ? { ...one, handoffId: first.get(one.taskId) ?? one.handoffId } : one,
  )
}

export function operationsOf(events: readonly HistoryEvent[]): readonly Operation[] {
  const byId = Map.groupBy(events, (event) => event.handoffId)
  return [...byId.values()].flatMap((ofOne) => {
    const invocations = ofOne.filter((event) => event.what === 'invoke')
    const answers = ofOne.filter((event) => event.what !== 'invoke')
    const [first] = invocations
    if (first === undefined) return []
    const { what: _, attempt: __, ...known } = first
    return [{ ...known, outcome: outcomeOf(answers, invocations.length) }]
  })
}

function outcomeOf(answers: readonly Answer[], attempts: number): Operation['outcome'] {
  if (answers.some((answer) => answer.what === 'ok')) return 'acknowledged'
  const refused = answers.filter((answer) => answer.what === 'fail').length
  return refused === attempts ? 'refused' : 'unknown'
}
