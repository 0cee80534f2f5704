// The contract review: an example pipeline whose input is real, the licences of installed dependencies.
export { agents, createAgents } from './agents.ts'
export { collectLicences, type LicenceText } from './collect-licences.ts'
export { failingReview, plantedInjection } from './demonstrations.ts'
export { dataSubjectId } from './personal-data.ts'
export { reviewRequest, type ReviewOptions, type ReviewRequest } from './review-request.ts'
export type { ReviewFindings, RiskLevel } from './review-state.ts'
