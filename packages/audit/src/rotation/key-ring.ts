// A key that can be changed is a ring: the current one makes what is new, earlier ones still open what they made.
import { permanent } from '@baton/runtime'
import { idOfWrappingKey, readVaultKey } from '../append/wrapping-key.ts'

export interface KeyRing<Key extends { readonly id: string }> {
  readonly current: Key
  /** Newest first. */
  readonly earlier: readonly Key[]
  /** The current one first. */
  readonly all: readonly Key[]
  /** The one that has been there longest. */
  readonly earliest: Key
  find(id: string): Key | undefined
}

const KEYS_MAX = 8

/** Which of the vault's keys. */
export type VaultKey = 'wrapping' | 'lookup'

/** The parts of a setting that holds a ring: separated by commas, the current one first. Throws BATON_KEY_INVALID. */
export function splitRing(kind: VaultKey, setting: string): readonly [string, ...string[]] {
  const parts = setting.split(',')
  if (parts.length > KEYS_MAX) throw invalid(kind, `there are more than ${KEYS_MAX} ${kind} keys`)
  if (new Set(parts).size < parts.length) throw invalid(kind, `a ${kind} key stands there twice`)
  return parts as [string, ...string[]]
}

export function ringOf<Key extends { readonly id: string }>(
  current: Key,
  earlier: readonly Key[],
): KeyRing<Key> {
  const all = [current, ...earlier]
  const byId = new Map(all.map((key) => [key.id, key]))
  return { current, earlier, all, earliest: all.at(-1) ?? current, find: (id) => byId.get(id) }
}

/** A key that finds people. */
export interface LookupKey {
  /** Tells keys apart and nothing of them: the beginning of a digest. */
  readonly id: string
  readonly secret: Buffer
}

/** Keys of 32 bytes in base64. Throws BATON_KEY_INVALID. */
export function readLookupKeys(setting: string): KeyRing<LookupKey> {
  const [current, ...earlier] = splitRing('lookup', setting)
  const read = (base64: string): LookupKey => {
    const secret = readVaultKey('lookup', base64)
    return { id: idOfWrappingKey(secret), secret }
  }
  return ringOf(read(current), earlier.map(read))
}

const invalid = (kind: VaultKey, message: string) =>
  permanent('BATON_KEY_INVALID', message, {
    fix: 'Name the current key first, and each earlier one once behind it, separated by commas.',
  })
