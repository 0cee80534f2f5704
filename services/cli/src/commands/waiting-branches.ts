// A task that branched, for `task show`: which branch a handoff stands in, which wait for a person, and what that person can do.
import { short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { clip, renderTable } from '../terminal/table.ts'
import type { Handoff } from './find-task.ts'

/** Of lists in which handoffs of several tasks stand. */
export const BRANCH_COLUMN = { title: 'BRANCH', widthMax: 24 } as const

type Shown = Pick<
  Handoff,
  'handoffId' | 'taskId' | 'toAgent' | 'state' | 'attempt' | 'attemptsMax' | 'reason' | 'branch'
>

export const hasBranches = (handoffs: readonly Shown[]): boolean =>
  handoffs.some(({ branch }) => branch !== null)

/** Narrow enough for 80 columns; whole ids stand where they are needed, and in JSON. */
export const branchTable = (handoffs: readonly Shown[]): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'BRANCH', widthMax: 14 },
      { title: 'TO', widthMax: 12 },
      { title: 'STATE' },
      { title: 'TRY' },
      { title: 'REASON', widthMax: 14 },
    ],
    handoffs.map(({ handoffId, branch, toAgent, state, attempt, attemptsMax, reason }) => [
      short(handoffId),
      branch?.name ?? '',
      toAgent,
      state,
      `${attempt}/${attemptsMax}`,
      reason ?? '',
    ]),
  )

const CAME_BACK: readonly string[] = ['ROLLED_BACK', 'EXPIRED']
const NOT_TAKEN: readonly string[] = ['REJECTED', 'BLOCKED']

/** The last handoffs of branches that wait for a person, in their order. */
export const waitingFor = (handoffs: readonly Shown[]): readonly Shown[] =>
  handoffs.filter(
    ({ state, branch }, index) =>
      branch !== null &&
      branch.outcome === null &&
      [...CAME_BACK, ...NOT_TAKEN, 'DEAD_LETTERED', 'AWAITING_APPROVAL'].includes(state) &&
      !handoffs.slice(index + 1).some((later) => later.branch?.branchId === branch.branchId),
  )

/** What a person can do about one, the usual first: each with what comes of it. */
export function stepsOf({
  handoffId,
  taskId,
  state,
}: Shown): readonly (readonly [string, string])[] {
  const giveUp = [nextStep(`cancel ${handoffId}`), 'goes on without it'] as const
  if (CAME_BACK.includes(state)) {
    const resume = nextStep(`task resume ${short(taskId)} --handoff ${short(handoffId)}`)
    return [[resume, 'takes it up again'], giveUp]
  }
  if (NOT_TAKEN.includes(state)) return [giveUp]
  if (state === 'DEAD_LETTERED')
    return [[nextStep(`dlq show ${short(handoffId)}`), 'shows what is wrong with it']]
  return [
    [nextStep(`approvals approve ${handoffId}`), 'lets it go'],
    [nextStep(`approvals reject ${handoffId}`), 'ends it'],
  ]
}

const TOLD_MAX = 5

/** What the task waits for, and who can let it go on; empty where it waits for nobody. */
export function waitingLines(handoffs: readonly Shown[]): readonly string[] {
  const waiting = waitingFor(handoffs)
  if (waiting.length === 0) return []
  const ids = new Set(handoffs.flatMap(({ branch }) => branch?.branchId ?? []))
  const more = waiting.length - TOLD_MAX
  return [
    `${waiting.length} of ${ids.size} branches ${waiting.length === 1 ? 'waits' : 'wait'} for a person:`,
    ...waiting
      .slice(0, TOLD_MAX)
      .flatMap((one) => [
        clip(
          `  ${one.branch?.name} (${one.toAgent}): ${one.state} ${one.reason ?? ''}`.trimEnd(),
          80,
        ),
        ...stepsOf(one).flatMap(([command, effect]) => [`    ${effect}:`, `    ${command}`]),
      ]),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ]
}
