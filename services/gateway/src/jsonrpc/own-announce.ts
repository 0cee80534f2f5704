// What Baton announces of itself to its peers: which agents do the work, and what all of them have.
import { announceOf } from '@baton/protocol/dialects/session'
import type { SessionAnnounce } from '@baton/protocol/dialects/session'
import { listLiveAgents } from '@baton/store'
import type { Pool } from '@baton/store'

interface Announced {
  readonly agentType: string
  readonly contextId: string
  readonly isFresh: boolean
}

const LISTED_MAX = 1_000

/** As the live workers of the agent type say it; of a type without any, nothing is announced but its name. */
export async function ownAnnounce(
  pool: Pool,
  { agentType, contextId, isFresh }: Announced,
): Promise<SessionAnnounce> {
  const agents = await listLiveAgents(pool, LISTED_MAX)
  const { capabilities = [], mcp = [] } = agents.find(({ type }) => type === agentType) ?? {}
  return announceOf({
    worker: { agent_id: `baton/${agentType}`, model: null, model_tier: null, context_window: null },
    capabilities: { tools: capabilities, mcp_servers: mcp },
    mcp_health: Object.fromEntries(mcp.map((name) => [name, 'ok'])),
    session: {
      context_id: contextId,
      active_tasks: 0,
      repo_state: null,
      session_fresh: isFresh,
    },
  })
}
