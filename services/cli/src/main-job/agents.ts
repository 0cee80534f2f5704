// The agents that an instance hosts: those of the contract review, and those of the claim that fans out.
import { createAgents as createReviewAgents } from '@baton/contract-review'
import { agents as claimAgents } from '@baton/insurance-claim'

export const createAgents = (environment: Parameters<typeof createReviewAgents>[0]) => [
  ...createReviewAgents(environment),
  ...claimAgents,
]
