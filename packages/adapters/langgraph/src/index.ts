// Baton for LangGraph: hand work over from a node, host graphs, and carry messages.
export { handOverNode, resumeHandedOver } from './hand-over-node.ts'
export type { HandOverNodeOptions, ResumeOptions } from './hand-over-node.ts'
export { hostLangGraph } from './hosted-graph.ts'
export type { HostedGraphOptions } from './hosted-graph.ts'
export { fromLangChain, toLangChain } from './messages.ts'
