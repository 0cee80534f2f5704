// The main job's input: every distinct licence text that is installed, one planted injection, one failing agent.
import {
  collectLicences,
  failingReview,
  plantedInjection,
  reviewRequest,
} from '@baton/contract-review'
import type { ReviewRequest } from '@baton/contract-review'
import { permanent } from '@baton/runtime'
import { newTraceparent } from '@baton/telemetry'

/** What one review may cost. */
export const BUDGET_USD = 0.5

export interface MainJobInput {
  /** Task id of each request, in order. */
  readonly taskIds: readonly string[]
  /** What each task reviews, by task id. */
  readonly names: ReadonlyMap<string, string>
  /** The task whose text carries the injection. */
  readonly injectedTaskId: string
  /** The task whose agent fails. */
  readonly failingTaskId: string
  /** False where fewer were asked for than there are. */
  readonly isWhole: boolean
  /** Built one by one, while earlier ones are under way. */
  requests(): Generator<ReviewRequest>
}

/** At most `max` licences. Throws BATON_NO_LICENCES when nothing is installed below `root`. */
export async function collectContracts(root: string, max: number): Promise<MainJobInput> {
  const all = await collectLicences(root)
  const licences = all.slice(0, max)
  if (licences.length === 0) {
    throw permanent('BATON_NO_LICENCES', `no licence text is installed below ${root}`, {
      fix: 'Run it in a checkout whose packages are installed: `npm run up` does that.',
    })
  }
  const injected = nameAndId(plantedInjection())
  const contracts = [injected, ...licences.map(nameAndId)]
  const failing = failingReview({ budgetUSD: BUDGET_USD, traceparent: newTraceparent() })
  const failingTaskId = failing.agentState.taskId
  return {
    taskIds: [failingTaskId, ...contracts.map(({ taskId }) => taskId)],
    names: new Map([
      [failingTaskId, 'failing-review@1.0.0'],
      ...contracts.map(({ taskId, name }) => [taskId, name] as const),
    ]),
    injectedTaskId: injected.taskId,
    failingTaskId,
    isWhole: licences.length === all.length,
    // The one that fails goes first: its retries take longest.
    *requests() {
      yield failing
      for (const { taskId, name, text } of contracts) {
        const request = reviewRequest(text, {
          name,
          budgetUSD: BUDGET_USD,
          traceparent: newTraceparent(),
        })
        yield { ...request, agentState: { ...request.agentState, taskId } }
      }
    },
  }
}

const nameAndId = (licence: { package: string; version: string; text: string }) => ({
  taskId: crypto.randomUUID(),
  name: `${licence.package}@${licence.version}`,
  text: licence.text,
})
