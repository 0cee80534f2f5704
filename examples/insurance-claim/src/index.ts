// A claim on a health insurance, checked in three ways at the same time and decided once all three have answered.
export { agents } from './agents.ts'
export { claimRequest, SAMPLE_CLAIM } from './claim-request.ts'
export type { ClaimDecision } from './claim.ts'
