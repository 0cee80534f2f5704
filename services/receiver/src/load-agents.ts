// Loads the agents a receiver hosts from the module that its settings name.
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { permanent } from '@baton/runtime'
import { type Agent, defineAgent } from '@baton/sdk'

/** Imports `specifier` and checks every agent in its export `agents`. */
export async function loadAgents(specifier: string): Promise<readonly Agent[]> {
  const { agents } = await importModule(specifier)
  if (!Array.isArray(agents) || agents.length === 0) {
    throw permanent('BATON_AGENTS_INVALID', `${specifier} exports no agents`, {
      fix: 'Export `agents`: an array of defineAgent({ ... }).',
    })
  }
  return agents.map((agent) => defineAgent(agent as Agent))
}

async function importModule(specifier: string): Promise<{ agents?: unknown }> {
  const isPath = specifier.startsWith('.') || isAbsolute(specifier)
  const target = isPath ? pathToFileURL(resolve(specifier)).href : specifier
  try {
    return (await import(target)) as { agents?: unknown }
  } catch (cause) {
    throw permanent('BATON_AGENTS_INVALID', `the agents module ${specifier} cannot be imported`, {
      cause,
      fix: 'Check BATON_AGENTS: a path to a module, or the name of an installed package.',
    })
  }
}
