// What commands on an installation are told by its folder; the environment overrules it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { permanent } from '@baton/runtime'
import type { Told } from './process-settings.ts'
import { readSettingsFile, SETTINGS_FILE } from './settings-file.ts'

/** Who runs where, for `doctor`. */
export interface InstallationRecord {
  readonly processes: readonly {
    readonly name: string
    /** Where it says whether it is ready; for the witness, where it answers. */
    readonly url: string
  }[]
}

export const recordFile = (home: string): string => join(home, 'operator', 'installation.json')

/** Undefined where this home is no installation on servers of one's own. */
export function readInstallationRecord(home: string): InstallationRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordFile(home), 'utf8')) as InstallationRecord
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * The settings of its operator, of who owns its databases where they may be read, and of the person who acts. Nothing where
 * this home is no installation. Throws BATON_USAGE for a person whose settings are not there.
 */
export function installationEnvironment(home: string, actAs: string | undefined): Told {
  const operator = settingsOf(home, 'operator')
  if (operator === undefined) return {}
  return {
    ...operator,
    ...settingsOf(home, 'admin'),
    ...(actAs === undefined || actAs === 'operator' ? {} : personSettings(home, actAs)),
  }
}

function personSettings(home: string, person: string): Told {
  const known = listPeople(home)
  const told = known.includes(person) ? settingsOf(home, join('people', person)) : undefined
  if (told !== undefined) return told
  throw permanent(
    'BATON_USAGE',
    `there are no settings of ${JSON.stringify(person)} in ${join(home, 'people')}`,
    {
      fix: `Those who have some are ${['operator', ...known].join(', ')}. Who was given theirs elsewhere sets BATON_API_KEY and BATON_PERSON_KEY and leaves out --as.`,
    },
  )
}

function listPeople(home: string): readonly string[] {
  try {
    return readdirSync(join(home, 'people'))
  } catch {
    return []
  }
}

const settingsOf = (home: string, name: string): Told | undefined =>
  readSettingsFile(join(home, name, SETTINGS_FILE))
