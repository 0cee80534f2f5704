// The safety scanner: judges the text of a handoff message and renders it for an agent as data.
export { explainRule, RULE_IDS } from './explain.ts'
export { createScanner, prepareScanner } from './scanner.ts'
export { listShownTexts, renderForAgent } from './render.ts'
export type { RuleExplanation } from './explain.ts'
export type { ShownText } from './render.ts'
export type { ExemptionOf, SafetyVerdict, Scanner } from './verdict.ts'
