// Which of the keys in the settings signs now, and to which one the log is handed over next: only the state of the log decides.
import {
  createNoteSigner,
  equalBytes,
  HANDOVERS_MAX,
  openSealNote,
  sealKeysOf,
  SIGNATURE_TYPES,
  verifierKey,
} from '@baton/ledger'
import type { SealKeys } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { SealerState } from './state-file.ts'

/** A key of the setting. */
export interface SealingKey {
  /** PKCS #8 DER in base64. */
  readonly pkcs8: string
  readonly publicKey: Uint8Array
  /** Of the key in the seal log: it says nothing of the private half. */
  readonly id: string
}

export interface SealRing {
  /** Signs the next seal, also where that hands over. */
  readonly current: SealingKey
  /** Takes over with the next seal; undefined where the first key of the setting is in force. */
  readonly next: SealingKey | undefined
  /** Whose signatures count in the log so far. */
  readonly keys: SealKeys
}

const KEYS_MAX = 8

/** The keys of the setting, the one that is to sign first. Throws BATON_KEY_INVALID. */
export function readSealingKeys(setting: string, origin: string): readonly SealingKey[] {
  const parts = setting.split(',').map((part) => part.trim())
  const keys = parts.map((pkcs8) => {
    const { keyId: id, publicKey } = createNoteSigner({ name: origin, pkcs8 }).key
    return { pkcs8, publicKey, id }
  })
  if (keys.length <= KEYS_MAX && new Set(keys.map(({ id }) => id)).size === keys.length) return keys
  throw permanent(
    'BATON_KEY_INVALID',
    `BATON_SEAL_SIGNING_KEY takes up to ${KEYS_MAX} keys, each once`,
    { fix: 'Name the new key first, and the one in force behind it, separated by a comma.' },
  )
}

/**
 * A log that has no seal is begun with the first key. Throws BATON_SEAL_KEY_NOT_IN_FORCE where the settings lack the key that signs, and
 * BATON_SEAL_KEY_RETIRED where the first one has signed before it.
 */
export function ringOf(
  settings: readonly SealingKey[],
  origin: string,
  state: Pick<SealerState, 'seal' | 'handovers'> | undefined,
): SealRing {
  const [first] = settings as readonly [SealingKey]
  // What anchors know of a log whose state is lost may be by any of them.
  if (state === undefined) return { current: first, next: undefined, keys: anyOf(settings) }
  const keys = keysOf(settings, origin, state)
  const inForce = keys.publicKeys.at(-1) as Uint8Array
  const current = settings.find(({ publicKey }) => equalBytes(publicKey, inForce))
  if (current === undefined) throw notInForce(settings, origin, keys)
  if (current === first) return { current, next: undefined, keys }
  const { handovers, publicKeys } = keys
  if (publicKeys.some((key) => equalBytes(key, first.publicKey))) throw retired(first.id)
  if (handovers.length >= HANDOVERS_MAX) throw tooMany(handovers.length)
  return { current, next: first, keys }
}

const anyOf = (settings: readonly SealingKey[]): SealKeys => ({
  publicKeys: settings.map(({ publicKey }) => publicKey),
  handovers: [],
})

/** By the state alone: who signed before the first hand-over, that one says; without one, it is who signed the newest seal. */
function keysOf(
  settings: readonly SealingKey[],
  origin: string,
  { seal, handovers }: Pick<SealerState, 'seal' | 'handovers'>,
): SealKeys {
  if (handovers.length > 0) return sealKeysOf(handovers)
  const opened = openSealNote(seal.note, origin, anyOf(settings))
  if (!opened.ok) throw notInForce(settings, origin, undefined)
  return { publicKeys: [opened.key.publicKey], handovers: [] }
}

function notInForce(settings: readonly SealingKey[], origin: string, keys: SealKeys | undefined) {
  const ids = settings.map(({ id }) => id).join(', ')
  const inForce = keys?.publicKeys.at(-1)
  const name =
    inForce === undefined
      ? 'another key'
      : `the key ${verifierKey(origin, SIGNATURE_TYPES.ed25519, inForce).keyId}`
  const last = keys?.handovers.find(({ from }) => settings.some(({ id }) => id === from.keyId))
  const since =
    last === undefined
      ? ''
      : `; ${last.from.keyId} was handed over with seal ${last.seq}, and signs nothing more`
  return permanent(
    'BATON_SEAL_KEY_NOT_IN_FORCE',
    `the seal log is signed with ${name}, and BATON_SEAL_SIGNING_KEY has ${ids}${since}`,
    {
      fix: 'Name the key in force too, behind a new one where it is to be changed (NEW,OLD). Nothing is signed before: infra/rotation.md, “The seal key”.',
    },
  )
}

const retired = (id: string) =>
  permanent(
    'BATON_SEAL_KEY_RETIRED',
    `BATON_SEAL_SIGNING_KEY begins with the key ${id}, which has been handed over before`,
    {
      fix: 'Make a new key and name it first, or name the key in force first: a key that was handed over never comes back.',
    },
  )

const tooMany = (handovers: number) =>
  permanent('BATON_SETTINGS_INVALID', `the seal log was handed over ${handovers} times already`, {
    fix: 'Name the key in force first in BATON_SEAL_SIGNING_KEY: a log is not handed over more often.',
  })
