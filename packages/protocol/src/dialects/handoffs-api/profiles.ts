// Profiles: the names by which the Handoffs API knows agents, and from whom each of them takes messages.
import type { JsonObject, JsonValue } from '../../json.ts'
import { pointerTo } from '../../json.ts'
import { parseMessage } from '../../parse-message.ts'
import { accepted, refused } from './refusal.ts'
import type { Answer } from './refusal.ts'

/** A name and the agent type that is meant by it. */
export interface Profile {
  readonly id: string
  readonly agentType: string
  /** From whom it takes messages; from everybody where it does not say so. */
  readonly acceptFrom?: readonly string[]
  /** Whose messages wait for a person, whatever they say themselves. */
  readonly requireApprovalFrom?: readonly string[]
  /** From whom it takes nothing, also where `acceptFrom` names them. */
  readonly blockFrom?: readonly string[]
}

/** Stands for every profile. */
const EVERYBODY = '*'
const POLICIES = ['acceptFrom', 'requireApprovalFrom', 'blockFrom'] as const
const MEMBERS = new Set<string>(['id', 'agentType', ...POLICIES])
const NAME_MAX = 256
const PROFILES_MAX = 10_000

const names = (list: readonly string[] | undefined, id: string): boolean =>
  list?.some((one) => one === EVERYBODY || one === id) ?? false

/** Whether a message may go from one to the other, and whether it has to wait for a person. */
export function decidePolicy(from: string, to: Profile): Answer<{ requiresApproval: boolean }> {
  const isTaken = to.acceptFrom === undefined || names(to.acceptFrom, from)
  if (!isTaken || names(to.blockFrom, from))
    return refused({
      error: `Profile ${to.id} does not accept handoffs from ${from}`,
      code: 'BATON_PROFILE_POLICY',
      fix: 'Send to another profile, or ask the operator to change acceptFrom or blockFrom of this one.',
      pointer: '/toProfileId',
    })
  return accepted({ requiresApproval: names(to.requireApprovalFrom, from) })
}

export type ReadProfiles =
  | { readonly ok: true; readonly profiles: ReadonlyMap<string, Profile> }
  /** What is wrong, and where: a JSON pointer, and the line of what is no JSON. */
  | { readonly ok: false; readonly problem: string }

/** Reads `{ "profiles": [{ "id", "agentType"?, "acceptFrom"?, "requireApprovalFrom"?, "blockFrom"? }] }`, strictly. */
export function readProfiles(bytes: Uint8Array): ReadProfiles {
  const parsed = parseMessage(bytes)
  if (!parsed.ok) {
    const [detail] = parsed.details
    return { ok: false, problem: `at ${detail?.pointer || '/'}: ${detail?.message}` }
  }
  const found = findProblem(parsed.value)
  if (found !== undefined)
    return { ok: false, problem: `at ${found.pointer || '/'}: ${found.what}` }
  const { profiles } = parsed.value as unknown as { profiles: readonly Partial<Profile>[] }
  const read = profiles.map(({ id = '', agentType = id, ...policies }) => ({
    id,
    agentType,
    ...policies,
  }))
  return { ok: true, profiles: new Map(read.map((profile) => [profile.id, profile])) }
}

interface Problem {
  readonly pointer: string
  readonly what: string
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function findProblem(file: JsonValue): Problem | undefined {
  if (!isObject(file)) return { pointer: '', what: 'expected an object' }
  const other = Object.keys(file).find((name) => name !== 'profiles')
  if (other !== undefined)
    return { pointer: pointerTo('', other), what: 'there is no such member; only profiles' }
  const list = file['profiles']
  if (!Array.isArray(list) || list.length > PROFILES_MAX)
    return { pointer: '/profiles', what: `expected a list of at most ${PROFILES_MAX} profiles` }
  const ids = new Set<JsonValue | undefined>()
  for (const [index, profile] of (list as readonly JsonValue[]).entries()) {
    const problem = profileProblem(profile, `/profiles/${index}`)
    if (problem !== undefined) return problem
    const { id } = profile as JsonObject
    if (ids.has(id))
      return { pointer: `/profiles/${index}/id`, what: 'another profile has this id' }
    ids.add(id)
  }
  return unknownName(list as unknown as readonly Profile[], ids)
}

function profileProblem(profile: JsonValue, pointer: string): Problem | undefined {
  if (!isObject(profile)) return { pointer, what: 'expected an object' }
  const other = Object.keys(profile).find((name) => !MEMBERS.has(name))
  if (other !== undefined)
    return {
      pointer: pointerTo(pointer, other),
      what: `there is no such member; known are ${[...MEMBERS].join(', ')}`,
    }
  if (!isName(profile['id']) || profile['id'] === EVERYBODY)
    return { pointer: `${pointer}/id`, what: `expected a name of 1 to ${NAME_MAX} characters` }
  if (profile['agentType'] !== undefined && !isName(profile['agentType']))
    return { pointer: `${pointer}/agentType`, what: 'expected the name of an agent type' }
  const broken = POLICIES.find(
    (policy) => profile[policy] !== undefined && !isList(profile[policy]),
  )
  return broken === undefined
    ? undefined
    : { pointer: `${pointer}/${broken}`, what: 'expected a list of profile ids, or ["*"]' }
}

const isName = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value === value.trim() &&
  Array.from(value).length <= NAME_MAX &&
  !/\p{Cc}/u.test(value)

const isList = (value: JsonValue | undefined): boolean =>
  Array.isArray(value) && value.every((one: JsonValue) => isName(one))

// A policy about a profile that there is not would never apply.
function unknownName(
  profiles: readonly Profile[],
  ids: ReadonlySet<JsonValue | undefined>,
): Problem | undefined {
  for (const [index, profile] of profiles.entries())
    for (const policy of POLICIES) {
      const at = (profile[policy] ?? []).findIndex((id) => id !== EVERYBODY && !ids.has(id))
      if (at >= 0)
        return { pointer: `/profiles/${index}/${policy}/${at}`, what: 'no profile has this id' }
    }
  return undefined
}
