// The main job's input: every distinct licence text that is installed, one planted injection, one failing agent, one claim
// that is checked in three ways at the same time.
import {
  collectLicences,
  failingReview,
  plantedInjection,
  reviewRequest,
} from '@baton/contract-review'
import type { ReviewRequest } from '@baton/contract-review'
import { claimRequest, SAMPLE_CLAIM } from '@baton/insurance-claim'
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
  /** The task that fans out and is joined. */
  readonly claimTaskId: string
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
  const claim = claimRequest(SAMPLE_CLAIM, {
    budgetUSD: BUDGET_USD,
    traceparent: newTraceparent(),
  })
  const claimTaskId = claim.agentState.taskId
  return {
    taskIds: [failingTaskId, claimTaskId, ...contracts.map(({ taskId }) => taskId)],
    names: new Map([
      [failingTaskId, 'failing-review@1.0.0'],
      [claimTaskId, 'insurance claim'],
      ...contracts.map(({ taskId, name }) => [taskId, name] as const),
    ]),
    injectedTaskId: injected.taskId,
    failingTaskId,
    claimTaskId,
    isWhole: licences.length === all.length,
    // The one that fails goes first: its retries take longest.
    *requests() {
      yield failing
      yield claim
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
