// Loads the agents a receiver hosts from the module that its settings name.
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { permanent } from '@baton/runtime'
import { defineAgent } from '@baton/sdk'
import type { Agent } from '@baton/sdk'

type Environment = Readonly<Record<string, string | undefined>>

interface AgentsModule {
  /** Makes agents that have settings of their own; goes before `agents`. */
  readonly createAgents?: unknown
  readonly agents?: unknown
}

/**
 * Imports `specifier` and checks every agent of its export `createAgents(environment)` or `agents`.
 * Throws BATON_AGENTS_INVALID, or what `createAgents` throws.
 */
export async function loadAgents(
  specifier: string,
  environment: Environment,
): Promise<readonly Agent[]> {
  const { createAgents, agents } = await importModule(specifier)
  const made: unknown =
    typeof createAgents === 'function' ? await createAgents(environment) : agents
  if (!Array.isArray(made) || made.length === 0) {
    throw permanent('BATON_AGENTS_INVALID', `${specifier} exports no agents`, {
      fix: 'Export `agents`, an array of defineAgent({ ... }), or `createAgents(environment)`, which returns one.',
    })
  }
  return made.map((agent) => defineAgent(agent as Agent))
}

async function importModule(specifier: string): Promise<AgentsModule> {
  const isPath = specifier.startsWith('.') || isAbsolute(specifier)
  const target = isPath ? pathToFileURL(resolve(specifier)).href : specifier
  try {
    return (await import(target)) as AgentsModule
  } catch (cause) {
    throw permanent('BATON_AGENTS_INVALID', `the agents module ${specifier} cannot be imported`, {
      cause,
      fix: 'Check BATON_AGENTS: a path to a module, or the name of an installed package.',
    })
  }
}
