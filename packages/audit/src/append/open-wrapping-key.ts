// Which kind of wrapping key a setting names: 32 bytes in base64, or a key of AWS KMS by its ARN.
import { createKmsWrappingKey, isKmsKey } from './kms-wrapping-key.ts'
import type { KmsOptions } from './kms-wrapping-key.ts'
import { createLocalWrappingKey } from './wrapping-key.ts'
import type { WrappingKey } from './wrapping-key.ts'

/** Throws BATON_KEY_INVALID for what is neither. */
export const openWrappingKey = (setting: string, kms: KmsOptions): WrappingKey =>
  isKmsKey(setting) ? createKmsWrappingKey(setting, kms) : createLocalWrappingKey(setting)
