// Where artefacts of the scanner stand, and whose are taken.
import type { VerifierKey } from '@baton/ledger'
import { createFileLook, permanent } from '@baton/runtime'
import type { BatonError, Settings } from '@baton/runtime'
import { ARTEFACT_BYTES_MAX } from '@baton/safety'
import type { SAFETY_SETTINGS } from './settings.ts'
import { invalidArtefact, openArtefact, readArtefactKeys } from './signed-artefact.ts'
import type { OpenedArtefact } from './signed-artefact.ts'

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

interface ArtefactUse {
  readonly isTaken: (sha256: string) => boolean
  readonly take: (artefact: OpenedArtefact) => Promise<void> | void
  readonly refused: (error: BatonError) => void
  readonly mended?: () => void
}

/** Answers what looks once at an artefact's file, as `createFileLook` does; what no trusted key has signed is refused. */
export const createArtefactLook = (
  { path, keys }: ArtefactSource,
  { isTaken, take, refused, mended }: ArtefactUse,
): (() => Promise<void>) =>
  createFileLook({
    path,
    bytesMax: ARTEFACT_BYTES_MAX,
    invalid: (problem) => invalidArtefact(`${path} ${problem}`),
    isTaken,
    take: (bytes) => take(openArtefact(bytes, keys)),
    refused,
    ...(mended === undefined ? {} : { mended }),
  })
