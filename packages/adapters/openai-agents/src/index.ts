// Baton for the OpenAI Agents SDK: hand work over by a handoff, host agents, and carry items.
export { batonHandoff } from './baton-handoff.ts'
export type { BatonHandoffOptions, HandoffCall } from './baton-handoff.ts'
export { hostOpenAIAgent } from './hosted-agent.ts'
export type { HostedAgentOptions } from './hosted-agent.ts'
export { fromItems, toItems } from './items.ts'
