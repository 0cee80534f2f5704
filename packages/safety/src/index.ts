// The safety scanner: judges the text of a handoff message and renders it for an agent as data.
export { createScanner, prepareScanner } from './scanner.ts'
export { renderForAgent } from './render.ts'
export type { SafetyVerdict, Scanner } from './verdict.ts'
