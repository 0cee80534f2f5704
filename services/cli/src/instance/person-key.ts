// Reads the key with which a person signs what they decide.
import { readDecisionSigner } from '@baton/ledger'
import { permanent } from '@baton/runtime'

/** The key with which a person signs. Throws BATON_KEY_INVALID that says whose it is and where it stands. */
export function readPersonKey(key: string, person: string): ReturnType<typeof readDecisionSigner> {
  try {
    return readDecisionSigner(key)
  } catch (cause) {
    throw permanent('BATON_KEY_INVALID', `the signing key of ${person} cannot be read`, {
      cause,
      fix: 'BATON_PERSON_KEY is Ed25519, PKCS #8 DER in base64; `baton people key NAME` makes one. On an instance it stands in secrets/signing.json: put that file back, or delete it and new keys are made.',
    })
  }
}
