// The signing keys of a system: one signs, some still verify, some are no longer believed.
import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { ProtocolError } from './detail.ts'

export type KeyStatus = 'active' | 'verify-only' | 'revoked'

export interface KeyRing {
  readonly activeKeyId: string
  readonly keys: ReadonlyMap<string, { readonly key: KeyObject; readonly status: KeyStatus }>
}

export interface KeyRingOptions {
  /** The id of the key that signs; its status must be `active`. */
  readonly active: string
  /** A secret is at least 32 bytes, given as bytes or as base64 text. */
  readonly keys: readonly {
    readonly id: string
    readonly secret: Uint8Array | string
    readonly status: KeyStatus
  }[]
}

const SECRET_BYTES_MIN = 32

/**
 * Makes the key objects once; a KeyObject signs three times faster than raw bytes.
 * To rotate: add the new key as active, keep the old one as verify-only until its messages have
 * been delivered, then revoke it (E10). Throws ProtocolError BATON_KEY_RING_INVALID.
 */
export function createKeyRing({ active, keys }: KeyRingOptions): KeyRing {
  const ring = new Map<string, { key: KeyObject; status: KeyStatus }>()
  for (const [index, { id, secret, status }] of keys.entries()) {
    if (id === '' || id.length > 256)
      refuse(`/keys/${index}/id`, 'a key id has 1 to 256 characters')
    if (ring.has(id)) refuse(`/keys/${index}/id`, `two keys are called ${id}`)
    ring.set(id, { key: createSecretKey(secretBytes(secret, index)), status })
  }
  if (ring.get(active)?.status !== 'active') refuse('/active', `${active} is not an active key`)
  const others = [...ring].filter(([id, { status }]) => status === 'active' && id !== active)
  if (others.length > 0) refuse('/keys', 'more than one key is active')
  return { activeKeyId: active, keys: ring }
}

function secretBytes(secret: Uint8Array | string, index: number): Uint8Array {
  const bytes = typeof secret === 'string' ? Buffer.from(secret, 'base64') : secret
  if (bytes.length < SECRET_BYTES_MIN)
    refuse(`/keys/${index}/secret`, `the secret is shorter than ${SECRET_BYTES_MIN} bytes`)
  return bytes
}

function refuse(pointer: string, message: string): never {
  const fix = 'Name one active key; give every key its own id and at least 32 random bytes.'
  throw new ProtocolError('BATON_KEY_RING_INVALID', [{ pointer, rule: 'keyRing', message, fix }])
}
