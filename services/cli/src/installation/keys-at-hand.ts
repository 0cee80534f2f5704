// Whose private keys lie in the folder of an installation: who reads it can decide as any of them.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readSettingsFile, SETTINGS_FILE } from './settings-file.ts'

/** Names of people, in order; nobody where each has taken theirs. */
export async function peopleWhoseKeysLieHere(home: string): Promise<readonly string[]> {
  const names = await readdir(join(home, 'people')).catch(() => [])
  return names
    .filter((name) => keyOf(join(home, 'people', name, SETTINGS_FILE)) !== undefined)
    .toSorted()
}

const keyOf = (file: string): string | undefined => readSettingsFile(file)?.['BATON_PERSON_KEY']
