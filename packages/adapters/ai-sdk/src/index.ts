// Baton for the Vercel AI SDK: hand work over by a tool, host agents, and carry messages.
export { handOverTool } from './hand-over-tool.ts'
export type { HandOverToolOptions } from './hand-over-tool.ts'
export { hostAiSdkAgent } from './hosted-agent.ts'
export type { HostedAgentOptions } from './hosted-agent.ts'
export { fromModelMessages, toModelMessages } from './messages.ts'
