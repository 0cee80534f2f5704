// The wrapping keys that a setting names: 32 bytes or a key of AWS KMS each, the current one first.
import { createKmsWrappingKey, isKmsKey } from './kms-wrapping-key.ts'
import type { KmsOptions } from './kms-wrapping-key.ts'
import { createLocalWrappingKey } from './wrapping-key.ts'
import type { WrappingKey } from './wrapping-key.ts'
import { splitRing } from '../rotation/key-ring.ts'

/** What wraps from now on, and what still opens what it wrapped before. Throws BATON_KEY_INVALID. */
export interface WrappingKeys {
  readonly wrappingKey: WrappingKey
  /** Newest first. */
  readonly earlierKeys: readonly WrappingKey[]
}

export function openWrappingKeys(setting: string, kms: KmsOptions): WrappingKeys {
  const open = (key: string): WrappingKey =>
    isKmsKey(key) ? createKmsWrappingKey(key, kms) : createLocalWrappingKey(key)
  const [current, ...earlier] = splitRing('wrapping', setting)
  return { wrappingKey: open(current), earlierKeys: earlier.map(open) }
}
