// Every tool, in the order in which they are listed.
import { DECIDE_TOOLS } from './decide-tools.ts'
import { PROOF_TOOLS } from './proof-tools.ts'
import { READ_TOOLS } from './read-tools.ts'
import { SEND_TOOLS } from './send-tools.ts'
import type { Tool } from './tool.ts'

export const TOOLS: readonly Tool[] = [
  ...SEND_TOOLS,
  ...READ_TOOLS,
  ...PROOF_TOOLS,
  ...DECIDE_TOOLS,
]

export const findTool = (name: unknown): Tool | undefined =>
  TOOLS.find((tool) => tool.name === name)
