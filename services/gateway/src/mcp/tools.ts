// Every tool, in the order in which they are listed.
import { READ_TOOLS } from './read-tools.ts'
import { SEND_TOOLS } from './send-tools.ts'
import type { Tool } from './tool.ts'

export const TOOLS: readonly Tool[] = [...SEND_TOOLS, ...READ_TOOLS]

export const findTool = (name: unknown): Tool | undefined =>
  TOOLS.find((tool) => tool.name === name)
