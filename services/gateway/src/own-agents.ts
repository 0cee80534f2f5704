// As whom a key sends: as any agent of its tenant, or as those alone that it was made for.
import { ProblemError } from '@baton/http/server'
import type { Access } from './api-keys.ts'

/** Throws 403 where the key is not for one of these agents. */
export function requireOwnAgents({ agents }: Access, ...ids: readonly string[]): void {
  if (agents === undefined || ids.every((id) => agents.has(id))) return
  throw AGENT_REFUSED
}

const AGENT_REFUSED = new ProblemError({
  status: 403,
  code: 'BATON_AGENT_REFUSED',
  detail: 'the API key may not send as this agent',
  fix: 'Send as an agent that the key was made for (`baton keys ls` shows them), or ask the operator for a key of this one.',
})
