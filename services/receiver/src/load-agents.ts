// Loads the agents a receiver hosts from the module and the file that its settings name.
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { permanent } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { defineAgent } from '@baton/sdk'
import type { Agent, HostedAgent } from '@baton/sdk'
import { explainImport } from './explain-import.ts'
import { loadPushAgents } from './load-push-agents.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface AgentsModule {
  /** Makes agents that have settings of their own; goes before `agents`. */
  readonly createAgents?: unknown
  readonly agents?: unknown
}

interface Named {
  readonly modulePath: string | undefined
  readonly pushPath: string | undefined
  /** How agents in one's own network are called. */
  readonly tls?: Tls
}

interface Environments {
  /** Where the secrets of agents that are called stand. */
  readonly whole: Environment
  /** What the module gets. */
  readonly own: Environment
}

/** The agents of both. Throws BATON_AGENTS_INVALID where there are none, or an agent type stands in both. */
export async function loadHosted(
  { modulePath, pushPath, tls }: Named,
  { whole, own: settings }: Environments,
): Promise<readonly HostedAgent[]> {
  const called = pushPath === undefined ? [] : loadPushAgents(pushPath, whole, tls)
  if (modulePath === undefined && pushPath === undefined) {
    throw permanent('BATON_AGENTS_INVALID', 'this receiver hosts no agents', {
      fix: 'Set BATON_AGENTS to a module that exports agents, or BATON_PUSH_AGENTS to a file of agents that are called.',
    })
  }
  const own = modulePath === undefined ? [] : await loadAgents(modulePath, settings)
  const twice = own.find(({ type }) => called.some((other) => other.type === type))
  if (twice === undefined) return [...own, ...called]
  throw permanent('BATON_AGENTS_INVALID', `${JSON.stringify(twice.type)} is in both`, {
    fix: 'Take it out of the module of BATON_AGENTS or out of the file of BATON_PUSH_AGENTS.',
  })
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
  const path = isPath ? resolve(specifier) : specifier
  try {
    return (await import(isPath ? pathToFileURL(path).href : path)) as AgentsModule
  } catch (cause) {
    const { because, fix } = explainImport(cause, path)
    throw permanent(
      'BATON_AGENTS_INVALID',
      `the agents module ${specifier} cannot be imported: ${because}`,
      { cause, fix },
    )
  }
}
