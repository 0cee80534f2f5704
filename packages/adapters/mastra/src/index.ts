// Baton for Mastra: hand work over by a tool or a workflow step, host agents, and carry messages.
export { handOverStep, handOverTool, resumeHandedOver } from './hand-over.ts'
export type { HandOverStepOptions, HandOverToolOptions, ResumeOptions } from './hand-over.ts'
export { hostMastraAgent } from './hosted-agent.ts'
export type { HostedAgentOptions } from './hosted-agent.ts'
export { fromMastra, toMastra } from './messages.ts'
