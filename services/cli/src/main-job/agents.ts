// The agents that an instance hosts: those of the contract review, and those of the other examples.
import { agents as clinicalAgents } from '@baton/clinical-summary'
import { createAgents as createReviewAgents } from '@baton/contract-review'
import { agents as claimAgents } from '@baton/insurance-claim'
import { agents as loanAgents } from '@baton/loan-origination'

export const createAgents = (environment: Parameters<typeof createReviewAgents>[0]) => [
  ...createReviewAgents(environment),
  ...claimAgents,
  ...loanAgents,
  ...clinicalAgents,
]
