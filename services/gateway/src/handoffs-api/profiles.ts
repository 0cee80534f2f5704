// Which profiles there are: those of the operator's file, or else the agent types that are live.
import { readProfiles } from '@baton/protocol/dialects/handoffs-api'
import type { Profile } from '@baton/protocol/dialects/handoffs-api'
import { permanent, readNamedFile } from '@baton/runtime'
import { findLiveTypes } from '@baton/store'
import type { Pool } from '@baton/store'

export interface Profiles {
  /** Those of `ids` that there are, by id. */
  find(ids: readonly string[]): Promise<ReadonlyMap<string, Profile>>
}

/** The profiles of a file; it is read once, at the start. Throws BATON_PROFILES_INVALID. */
export function readProfilesFile(path: string): Profiles {
  const read = readProfiles(readNamedFile(path, (problem) => invalid(`${path} ${problem}`)))
  if (!read.ok) throw invalid(`${path}, ${read.problem}`)
  const { profiles } = read
  return {
    find: async (ids) => new Map([...profiles].filter(([id]) => ids.includes(id))),
  }
}

/** Every agent type with a live worker is a profile of the same name, which takes messages from all others. */
export const liveProfiles = (pool: Pool): Profiles => ({
  async find(ids) {
    // No name has a NUL, and Postgres takes none in a text.
    const types = await findLiveTypes(
      pool,
      ids.filter((id) => !id.includes('\0')),
    )
    return new Map([...types].map((type) => [type, { id: type, agentType: type }]))
  },
})

const invalid = (problem: string) =>
  permanent('BATON_PROFILES_INVALID', `BATON_PROFILES: ${problem}`, {
    fix: 'Correct the file; infra/protocols/handoffs-api.md shows one.',
  })
