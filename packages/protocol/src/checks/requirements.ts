// Whether whoever would execute a message has what the message requires (S18), and is where its data may be.
import type { AgentRegistration } from '../agent-registration.ts'
import type { Detail } from '../detail.ts'
import type { HandoffMessage } from '../handoff-message.ts'
import { residencyProblems } from '../residency.ts'

/** Every requirement that the agent does not meet; each blocks the handoff before any execution. */
export function unmetRequirements(
  { requirements, residency }: HandoffMessage,
  agent: AgentRegistration,
): readonly Detail[] {
  return [
    ...missing('capabilities', requirements?.capabilities, agent.capabilities),
    ...missing('mcp', requirements?.mcp, agent.mcp),
    ...residencyProblems(residency, agent.jurisdiction),
  ]
}

function missing(
  kind: 'capabilities' | 'mcp',
  wanted: readonly string[] = [],
  had: readonly string[] = [],
): readonly Detail[] {
  return wanted.flatMap((name, index) =>
    had.includes(name)
      ? []
      : [{ ...MISSING[kind], pointer: `/requirements/${kind}/${index}`, expected: name }],
  )
}

const MISSING = {
  capabilities: {
    rule: 'requiredCapability',
    message: 'the receiving agent does not have this capability',
    fix: 'Register an agent that lists it under capabilities, or hand off without requiring it.',
  },
  mcp: {
    rule: 'requiredMcp',
    message: 'the receiving agent cannot reach this MCP server',
    fix: 'Register an agent that lists it under mcp, or hand off without requiring it.',
  },
} as const
