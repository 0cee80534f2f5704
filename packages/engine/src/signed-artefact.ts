// An artefact of the scanner as it travels: a C2SP signed note, so that the signature is over the very bytes of its text.
import { hash } from 'node:crypto'
import { openNote, readVerifierKey, SIGNATURE_TYPES, signNote } from '@baton/ledger'
import type { NoteSigner, VerifierKey } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'
import { formatArtefact, readArtefact } from '@baton/safety'
import type { Artefact } from '@baton/safety'

export interface OpenedArtefact extends Artefact {
  /** Of all its bytes. */
  readonly sha256: string
  /** The name of a trusted key. */
  readonly signedBy: string
}

export const signArtefact = (artefact: Artefact, signer: NoteSigner): string =>
  signNote(formatArtefact(artefact), [signer])

/** Throws the permanent BATON_SAFETY_ARTEFACT_UNSIGNED, and BATON_SAFETY_ARTEFACT_INVALID for what a trusted key signed and is no artefact. */
export function openArtefact(bytes: Uint8Array, keys: readonly VerifierKey[]): OpenedArtefact {
  const note = openNote(bytes, keys)
  if (!note.ok)
    throw permanent(
      'BATON_SAFETY_ARTEFACT_UNSIGNED',
      `no key of BATON_SAFETY_KEYS has signed the artefact as it stands (${note.reason})`,
      {
        fix: 'Sign it with `baton safety pack` and a key whose public half is in BATON_SAFETY_KEYS.',
      },
    )
  const artefact = readArtefact(note.text)
  if (typeof artefact === 'string') throw invalidArtefact(artefact)
  return { ...artefact, sha256: hash('sha256', bytes), signedBy: note.signatures[0]?.name ?? '' }
}

export const invalidArtefact = (problem: string): BatonError =>
  permanent('BATON_SAFETY_ARTEFACT_INVALID', `the artefact cannot be taken: ${problem}`, {
    fix: 'Make it with `baton safety pack` of this version, and copy it whole.',
  })

/** Reads `BATON_SAFETY_KEYS`. Throws BATON_SAFETY_KEYS_INVALID. */
export function readArtefactKeys(setting: string): readonly VerifierKey[] {
  const entries = setting.split(/[\s,]+/).filter((entry) => entry !== '')
  return entries.map((entry, index) => {
    try {
      const key = readVerifierKey(entry)
      // Its name stands in records.
      if (key.type === SIGNATURE_TYPES.ed25519 && /^[!-~]{1,128}$/.test(key.name)) return key
    } catch {
      // Said below.
    }
    throw permanent(
      'BATON_SAFETY_KEYS_INVALID',
      `entry ${index + 1} of BATON_SAFETY_KEYS is no public key of artefacts`,
      { fix: 'Take the entries that `baton safety key NAME` prints, comma-separated.' },
    )
  })
}
