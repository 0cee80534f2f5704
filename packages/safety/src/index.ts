// The safety scanner: judges the text of a handoff message and renders it for an agent as data.
export {
  ARTEFACT_BYTES_MAX,
  ARTEFACT_STEP_MAX,
  formatArtefact,
  readArtefact,
  sharedWeights,
} from './artefact.ts'
export { scannerFault } from './check-scanner.ts'
export { THRESHOLDS } from './decision.ts'
export { explainRule, RULE_IDS } from './explain.ts'
export { createScanner, prepareScanner } from './scanner.ts'
export { EMBEDDED_MODEL } from './model/model.ts'
export { listShownTexts, renderForAgent } from './render.ts'
export { textsAt } from './texts-at.ts'
export type { Artefact } from './artefact.ts'
export type { Model } from './model/model.ts'
export type { RuleExplanation } from './explain.ts'
export type { ShownText } from './render.ts'
export type { ExemptionOf, SafetyVerdict, Scanner } from './verdict.ts'
