// SESSION_ANNOUNCE: what a worker is and can do (S01).
import type { JsonValue } from '../../json.ts'
import { membersOf, messageMembers, reading, refuse, required } from './read-members.ts'
import type { Members, Read } from './read-members.ts'
import { PROTOCOL_VERSION } from './words.ts'

export interface SessionAnnounce {
  readonly type: 'SESSION_ANNOUNCE'
  readonly protocol_version: string
  readonly worker: {
    readonly agent_id: string
    readonly model: string | null
    readonly model_tier: string | null
    /** In tokens. */
    readonly context_window: number | null
  }
  readonly capabilities: {
    readonly tools: readonly string[]
    readonly mcp_servers: readonly string[]
  }
  /** Of each MCP server "ok", or what is wrong with it. */
  readonly mcp_health: Readonly<Record<string, string>>
  readonly session: {
    readonly context_id: string | null
    readonly active_tasks: number
    /** Null where the worker has no repository, or does not say. */
    readonly repo_state: { readonly branch: string | null; readonly clean: boolean } | null
    readonly session_fresh: boolean
  }
}

const SERVERS_MAX = 1_000

export const readAnnounce = (value: JsonValue): Read<SessionAnnounce> =>
  reading(() => {
    const members = messageMembers(value, 'SESSION_ANNOUNCE')
    const worker = members.object('worker')
    const capabilities = members.object('capabilities')
    const session = members.object('session')
    return {
      type: 'SESSION_ANNOUNCE',
      protocol_version: required(members.name('protocol_version'), '/protocol_version'),
      worker: {
        agent_id: required(worker.name('agent_id'), '/worker/agent_id'),
        model: worker.name('model'),
        model_tier: worker.name('model_tier'),
        context_window: worker.count('context_window'),
      },
      capabilities: {
        tools: capabilities.names('tools'),
        mcp_servers: capabilities.names('mcp_servers'),
      },
      mcp_health: readHealth(members.object('mcp_health')),
      session: {
        context_id: session.name('context_id'),
        active_tasks: session.count('active_tasks') ?? 0,
        repo_state: readRepository(session),
        session_fresh: session.flag('session_fresh') ?? false,
      },
    }
  })

function readHealth({ all, name }: Members): Readonly<Record<string, string>> {
  const servers = Object.keys(all)
  if (servers.length > SERVERS_MAX)
    refuse('/mcp_health', `more than ${SERVERS_MAX} servers`, 'Name those that matter.')
  return Object.fromEntries(servers.map((server) => [server, name(server) ?? 'unknown']))
}

// A tree of which nobody says that it is clean is not taken for a clean one.
function readRepository(session: Members): SessionAnnounce['session']['repo_state'] {
  const value = session.value('repo_state')
  if (value === undefined) return null
  const repository = membersOf(value, '/session/repo_state')
  return { branch: repository.name('branch'), clean: repository.flag('clean') ?? false }
}

/** An announcement of this version. */
export const announceOf = (
  parts: Omit<SessionAnnounce, 'type' | 'protocol_version'>,
): SessionAnnounce => ({
  type: 'SESSION_ANNOUNCE',
  protocol_version: PROTOCOL_VERSION,
  ...parts,
})
