// Reads the agents that a receiver calls over HTTP from the file that its settings name.
import { dirname, resolve } from 'node:path'
import { createDocumentCheck, firstProblem } from '@baton/protocol/document-check'
import { BatonError, permanent, readNamedFile, readVariable } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { defineA2aAgent, definePushAgent } from '@baton/sdk'
import type { A2aAgentOptions, HostedAgent, PushAgentOptions } from '@baton/sdk'
import { PUSH_AGENTS } from './push-agents-schema.ts'

type Environment = Readonly<Record<string, string | undefined>>

type PushEntry = Omit<PushAgentOptions, 'secrets' | 'lookup' | 'tls'> &
  ({ readonly secretEnv: string } | { readonly secretFile: string })

type A2aEntry = Omit<A2aAgentOptions, 'token' | 'lookup' | 'tls' | 'onAnswer'> & {
  readonly tokenEnv?: string
  readonly tokenFile?: string
}

type Entry = PushEntry | A2aEntry

const check = createDocumentCheck<{ readonly agents: readonly Entry[] }>(PUSH_AGENTS)

/** Throws BATON_PUSH_AGENTS_INVALID, which names the first wrong place by its JSON pointer and never quotes a secret. */
export function loadPushAgents(
  path: string,
  environment: Environment,
  tls?: Tls,
): readonly HostedAgent[] {
  const read = check(readFile(path))
  if (!read.ok) throw invalid(path, firstProblem(read.details))
  const { agents } = read.document
  const types = agents.map(({ type }) => type)
  const again = types.findIndex((type, index) => types.indexOf(type) < index)
  if (again >= 0) throw invalid(path, `/agents/${again}/type: the agent type stands there twice`)
  return agents.map((entry, index) => {
    try {
      const around = { folder: dirname(path), environment }
      return 'cardUrl' in entry
        ? defineA2aAgent({ ...a2aOptionsOf(entry, around), tls })
        : definePushAgent({ ...optionsOf(entry, around), tls })
    } catch (error) {
      if (error instanceof BatonError) throw invalid(path, `/agents/${index}: ${error.message}`)
      throw error
    }
  })
}

interface Around {
  readonly folder: string
  readonly environment: Environment
}

function optionsOf(entry: PushEntry, { folder, environment }: Around): PushAgentOptions {
  if ('secretEnv' in entry) {
    const { secretEnv, ...options } = entry
    return { ...options, secrets: split(readVariable(environment, secretEnv) ?? '') }
  }
  const { secretFile, ...options } = entry
  return { ...options, secrets: split(readFile(resolve(folder, secretFile)).toString()) }
}

function a2aOptionsOf(
  { tokenEnv, tokenFile, ...options }: A2aEntry,
  { folder, environment }: Around,
): A2aAgentOptions {
  if (tokenEnv === undefined && tokenFile === undefined) return options
  const token =
    tokenFile === undefined
      ? readVariable(environment, tokenEnv ?? '')
      : readFile(resolve(folder, tokenFile)).toString().trim()
  if (token === undefined || !/^[\x21-\x7e]{1,4096}$/.test(token)) throw TOKEN_MISSING
  return { ...options, token }
}

const TOKEN_MISSING = permanent('BATON_PUSH_AGENTS_INVALID', 'its token is missing', {
  fix: 'Put the token where tokenEnv or tokenFile says.',
})

const split = (text: string): readonly string[] => text.split(/[\s,]+/).filter((one) => one !== '')

const readFile = (path: string): Buffer => readNamedFile(path, (problem) => invalid(path, problem))

const invalid = (path: string, problem: string): BatonError =>
  permanent('BATON_PUSH_AGENTS_INVALID', `BATON_PUSH_AGENTS, ${path}: ${problem}`, {
    fix: 'Correct the file; infra/protocols/agents.md shows one.',
  })
