// Work that fans out: what each branch may cost, and what of its task goes on when branches are joined.
import type { AgentState, HandoffMessage, JsonValue } from '@baton/protocol'
import type { JoinHandoff, NextHandoff } from '@baton/protocol/settlement'
import { keepsResidency, microUSD, strictestOf, usdFromMicro } from '@baton/protocol'
import { permanent } from '@baton/runtime'
import type { NewBranch, NewHandoff, ReadyFanOut } from '@baton/store'
import type { HandoffRequest } from '../prepare-handoff.ts'
import { fitted, withoutResults } from './cut-results.ts'
import type { BranchOutcome, Found } from './cut-results.ts'
import { wrongList } from './wrong-list.ts'

/** What each branch is given, and what is held back for the join, in micro-USD. */
export interface Shares {
  readonly branches: readonly number[]
  readonly join: number
}

/**
 * Divides what is left: those that ask for a sum get it, the others the same part each, rounded down. Together they never
 * get more than is left (I8). Throws BATON_BUDGET_EXCEEDED where they ask for more.
 */
export function divideBudget(
  leftMicroUSD: number,
  next: readonly Pick<NextHandoff, 'budgetUSD'>[],
  join: JoinHandoff | undefined,
): Shares {
  const all = join === undefined ? next : [...next, join]
  const asked = all.map(({ budgetUSD }) =>
    budgetUSD === undefined ? undefined : microUSD(budgetUSD),
  )
  const left = Math.max(0, leftMicroUSD)
  const askedFor = asked.reduce<number>((sum, one) => sum + (one ?? 0), 0)
  if (askedFor > left) {
    const places = asked.flatMap((one, index) =>
      one === undefined ? [] : [index < next.length ? `/next/${index}` : '/join'],
    )
    const [first = '', ...others] = places.map((place) => `${place}/budgetUSD`)
    throw wrongList('BATON_BUDGET_EXCEEDED', {
      pointers: [first, ...others],
      rule: 'budget',
      message: `the branches ask for ${askedFor} micro-USD, ${left} are left`,
      fix: 'Ask for less in budgetUSD, or leave it out: what is left is divided among those that ask for nothing.',
    })
  }
  const others = asked.filter((one) => one === undefined).length
  const part = others === 0 ? 0 : Math.floor((left - askedFor) / others)
  const shares = asked.map((one) => one ?? part)
  return {
    branches: shares.slice(0, next.length),
    join: join === undefined ? 0 : (shares.at(-1) ?? 0),
  }
}

/** All copies of what branches are given together: they are built, signed and committed at once. */
const COPIES_BYTES_MAX = 16_777_216

/**
 * Prepares what a list asks for, one after the other, and stops as soon as they are too much for one commit. Throws
 * BATON_FAN_OUT_TOO_LARGE, at the first that has no room.
 */
export function prepareEach<One>(
  [list, all]: readonly ['/next' | '/receiverList', readonly One[]],
  prepare: (one: One, index: number) => NewHandoff,
): readonly NewHandoff[] {
  const requireRoom = createCopiesRoom(list, all.length)
  return all.map((one, index) => {
    const handoff = prepare(one, index)
    requireRoom(handoff, index)
    return handoff
  })
}

/** The same for copies that are prepared elsewhere: throws BATON_FAN_OUT_TOO_LARGE at the first that has no room. */
export function createCopiesRoom(list: '/next' | '/receiverList', count: number) {
  let bytes = 0
  return ({ body, checkpoint }: NewHandoff, index: number): void => {
    bytes += body.byteLength + checkpoint.byteLength
    if (bytes <= COPIES_BYTES_MAX) return
    throw wrongList('BATON_FAN_OUT_TOO_LARGE', {
      pointers: [`${list}/${index}`],
      rule: 'bytesMax',
      message: `${index + 1} of ${count} copies have ${bytes} bytes, and all of them may have ${COPIES_BYTES_MAX}`,
      fix: 'Hand on to fewer at once, or leave what is large where all of them can read it, and name the place.',
    })
  }
}

/** No message has a member of this name. */
const NO_MEMBER = '__proto__'

/**
 * A name for each branch, by which a join finds it: the one it is given, else its agent type; told apart by a number, which the
 * one name that no message can have as a member gets too.
 */
export function branchNames(
  next: readonly Pick<NextHandoff, 'branch' | 'to'>[],
): readonly string[] {
  const taken = new Set<string>([NO_MEMBER])
  return next.map(({ branch, to }) => {
    const wanted = branch ?? to
    let name = wanted
    for (let nth = 2; taken.has(name); nth += 1) name = `${wanted}-${nth}`
    taken.add(name)
    return name
  })
}

/** How many branches a join waits for. Throws BATON_JOIN_IMPOSSIBLE where there are not so many. */
export function joinAfter({ waitFor = 'all' }: JoinHandoff, branches: readonly NewBranch[]) {
  const wanted = waitFor === 'all' ? branches.length : waitFor === 'any' ? 1 : waitFor
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= branches.length) return wanted
  throw wrongList('BATON_JOIN_IMPOSSIBLE', {
    pointers: ['/join/waitFor'],
    rule: 'waitFor',
    message: `join.waitFor is ${wanted}, and there are ${branches.length} branches`,
    fix: 'Wait for "all", "any", or a number from 1 to that of the branches.',
  })
}

/** All that was spent when the branches of a fan-out had ended: before it, and in each of them. */
export const spentAfter = ({ spentMicroUSD, branches }: ReadyFanOut): number =>
  branches.reduce((sum, branch) => sum + (branch.spentMicroUSD - spentMicroUSD), spentMicroUSD)

export const outcomesOf = ({ spentMicroUSD, branches }: ReadyFanOut) =>
  branches.map((branch): readonly [string, BranchOutcome] => [
    branch.name,
    {
      agent: branch.body === null ? null : messageOf(branch.body).toAgent.agentType,
      outcome: branch.outcome ?? 'CANCELED',
      reason: branch.outcome === null ? 'NOT_WAITED_FOR' : branch.reason,
      handoffId: branch.handoffId,
      result: branch.result === null ? null : (JSON.parse(branch.result) as JsonValue),
      costUSD: usdFromMicro(branch.spentMicroUSD - spentMicroUSD),
    },
  ])

const messageOf = (body: Uint8Array): HandoffMessage =>
  JSON.parse(Buffer.from(body).toString('utf8')) as HandoffMessage

/** What a branch had at its end, with the people whom only its answer names: what it said is theirs. */
function lastMessageOf({
  body,
  named,
}: {
  readonly body: Uint8Array | null
  readonly named: string | null
}): readonly HandoffMessage[] {
  if (body === null) return []
  const message = messageOf(body)
  if (named === null) return [message]
  const { dataSubjects = [] } = message
  return [{ ...message, dataSubjects: [...dataSubjects, ...(JSON.parse(named) as string[])] }]
}

/**
 * The request of a join, filled with what came out of the branches: their outcomes by name in the state, the subtasks
 * that they completed, whose data they dealt with, and what all of it has cost. Labels of the branches are kept, the
 * strictest classification and the strictest residency among them. Results that the message has no room for are cut.
 */
export function joinRequest(fanOut: ReadyFanOut, now: string): HandoffRequest {
  const asked = JSON.parse(fanOut.joinRequest ?? '') as HandoffRequest
  const { agentState } = asked
  const spent = spentAfter(fanOut)
  const messages = [...fanOut.branches, ...fanOut.within].flatMap(lastMessageOf)
  const request = ({ outcomes, completed }: Found): HandoffRequest => ({
    ...asked,
    agentState: {
      ...agentState,
      timestamp: now,
      currentState: { ...agentState.currentState, branches: Object.fromEntries(outcomes) },
      completedSubtasks: [...agentState.completedSubtasks, ...completed],
      cost: {
        ...agentState.cost,
        spentSoFarUSD: usdFromMicro(spent),
        budgetRemainingUSD: usdFromMicro(fanOut.budgetMicroUSD - spent),
        ownCostUSD: 0,
      },
      ...labelsOf(agentState, messages),
    },
  })
  const whole = {
    outcomes: outcomesOf(fanOut),
    completed: completedIn(fanOut, messages, { before: agentState, now }),
  }
  const besides = Buffer.byteLength(JSON.stringify(request(withoutResults(whole))))
  return request(fitted(whole, { besides, joinId: agentState.handoffId ?? '' }))
}

// A branch knows what was completed before it; each subtask counts once, and one for the branch as a whole. Those that
// were completed before the fan-out stand in the request already.
function completedIn(
  { branches }: ReadyFanOut,
  messages: readonly HandoffMessage[],
  { before, now }: { readonly before: AgentState; readonly now: string },
): AgentState['completedSubtasks'] {
  const { completedSubtasks } = before
  const known = new Map(completedSubtasks.map((one) => [one.subtaskId, one]))
  for (const one of messages.flatMap((message) => message.completedSubtasks))
    if (!known.has(one.subtaskId)) known.set(one.subtaskId, one)
  const completedAt = completedSubtasks.at(-1)?.completedAt ?? now
  for (const { name, position, outcome } of branches) {
    if (outcome !== 'COMPLETED') continue
    const subtaskId = freeId(
      name.length > SHOWN_MAX ? `branch-${position}` : `branch-${name}`,
      known,
    )
    known.set(subtaskId, { subtaskId, description: `branch ${name}`, completedAt, result: null })
  }
  return [...known.values()].slice(completedSubtasks.length)
}

/** A longer name would leave no room in a subtask's id, which has 256 characters. */
const SHOWN_MAX = 200

function freeId(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  let id = wanted
  for (let nth = 2; taken.has(id); nth += 1) id = `${wanted}-${nth}`
  return id
}

type Labels = Pick<AgentState, 'personalData' | 'dataClassification' | 'residency'>

function labelsOf(state: AgentState, messages: readonly HandoffMessage[]): Labels {
  const subjects = new Set(state.personalData?.dataSubjects)
  const payload: Record<string, JsonValue> = { ...state.personalData?.payload }
  for (const { dataSubjects = [], personalDataPayload = {} } of messages) {
    for (const subject of dataSubjects) subjects.add(subject)
    Object.assign(payload, personalDataPayload)
  }
  const named = subjects.size > 0 || Object.keys(payload).length > 0
  const all = [state, ...messages]
  const dataClassification = strictestOf(...all.map((one) => one.dataClassification))
  const residency = residencyOfAll(
    all.flatMap((one) => (one.residency === undefined ? [] : [one.residency])),
  )
  return {
    ...(named ? { personalData: { dataSubjects: [...subjects], payload } } : {}),
    ...(dataClassification === undefined ? {} : { dataClassification }),
    ...(residency === undefined ? {} : { residency }),
  }
}

type Residency = NonNullable<HandoffMessage['residency']>

/** The one that lets the data be nowhere that another does not. Throws BATON_JOIN_IMPOSSIBLE where there is no such place. */
function residencyOfAll(all: readonly Residency[]): Residency | undefined {
  if (all.length === 0) return undefined
  const strictest = all.find((one) => all.every((other) => keepsResidency(other, one)))
  if (strictest !== undefined) return strictest
  const places = [...new Set(all.map(({ jurisdiction }) => jurisdiction))].join(' and ')
  throw permanent('BATON_JOIN_IMPOSSIBLE', `the branches' data must stay in ${places}`, {
    fix: 'Join what may be in one place, or name the transferMechanism that allows it to leave.',
  })
}
