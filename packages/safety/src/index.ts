// The safety scanner: judges the text of a handoff message and renders it for an agent as data.
export { createScanner } from './scanner.ts'
export { renderForAgent } from './render.ts'
export type { Finding, SafetyDecision, SafetyVerdict, Scanner, TrustClass } from './verdict.ts'
