// Files of settings as systemd, compose and Node read them alike: `NAME=value` lines that need no quotes.
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseEnv } from 'node:util'
import { permanent, replaceFile } from '@baton/runtime'
import type { Told } from './process-settings.ts'

export const SETTINGS_FILE = 'settings.env'

/** What stands in it; names that are undefined or empty are left out. Throws BATON_USAGE for a value that needs quotes. */
export function formatSettings(told: Told): string {
  const lines = Object.entries(told)
    .filter(([, value]) => value !== undefined && value !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value = '']) => {
      if (!PLAIN.test(value)) throw needsQuotes(name)
      return `${name}=${value}`
    })
  return `${lines.join('\n')}\n`
}

/** Neither white space, quotes and backslashes, nor what begins a comment or a variable somewhere. */
const PLAIN = /^[!%-&(-[\]-_a-~]+$/

const needsQuotes = (name: string) =>
  permanent(
    'BATON_USAGE',
    `${name} has a character that files of settings cannot hold without quotes`,
    {
      fix: 'Percent-encode it where it stands in a URL: %24 for $, %23 for #, %27 for an apostrophe, %20 for a space.',
    },
  )

/** Whole or not at all, and only for its owner. */
export async function writePrivate(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await replaceFile(path, text)
  } catch (cause) {
    throw permanent('BATON_FILE_NOT_WRITTEN', `${path} cannot be written`, {
      cause,
      fix: 'Give yourself the right to write in that folder, or name another one.',
    })
  }
}

/** Undefined where there is none, or where it is not for whoever runs this. */
export function readSettingsFile(path: string): Told | undefined {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined
    throw error
  }
}
