// Where artefacts of the scanner stand, and how a file is read that may hold anything of any size.
import { createReadStream } from 'node:fs'
import type { VerifierKey } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Settings } from '@baton/runtime'
import { ARTEFACT_BYTES_MAX } from '@baton/safety'
import type { SAFETY_SETTINGS } from './settings.ts'
import { readArtefactKeys, tooLarge } from './signed-artefact.ts'

/** Where an artefact stands, and whose signatures count. */
export interface ArtefactSource {
  readonly path: string
  readonly keys: readonly VerifierKey[]
}

/** Undefined where no file is named. Throws BATON_SAFETY_KEYS_INVALID. */
export function readArtefactSource(
  path: string | undefined,
  { BATON_SAFETY_KEYS: entries = '' }: Pick<Settings<typeof SAFETY_SETTINGS>, 'BATON_SAFETY_KEYS'>,
): ArtefactSource | undefined {
  const keys = readArtefactKeys(entries)
  if (path === undefined) return undefined
  if (keys.length > 0) return { path, keys }
  throw permanent('BATON_SAFETY_KEYS_INVALID', 'an artefact is named, and nobody may sign one', {
    fix: 'Set BATON_SAFETY_KEYS to the public keys that `baton safety key NAME` printed.',
  })
}

/** Throws the permanent BATON_SAFETY_ARTEFACT_INVALID. */
export async function readArtefactFile(path: string): Promise<Uint8Array> {
  const parts: Buffer[] = []
  try {
    // One byte more than it may have tells of a file that is too large, however large.
    for await (const part of createReadStream(path, { end: ARTEFACT_BYTES_MAX }))
      parts.push(part as Buffer)
  } catch (cause) {
    throw permanent('BATON_SAFETY_ARTEFACT_INVALID', `${path} cannot be read`, {
      cause,
      fix: 'Put the artefact there, readable for this process, or take the setting that names it away.',
    })
  }
  const bytes = Buffer.concat(parts)
  if (bytes.length > ARTEFACT_BYTES_MAX) throw tooLarge()
  return bytes
}
