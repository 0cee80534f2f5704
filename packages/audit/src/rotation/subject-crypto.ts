// The names that a subject is found by, under the subject's own key: they go with it. And what one key of a ring has wrapped.
import type { KeyObject } from 'node:crypto'
import { createLocalWrappingKey, unreadable } from '../append/wrapping-key.ts'
import type { WrappingKey } from '../append/wrapping-key.ts'
import type { KeyRing } from './key-ring.ts'

/** Whose key it is, and the members where it is the key of a set; empty for one subject. */
export interface SubjectNames {
  readonly name: string
  readonly members: readonly string[]
}

const contextOf = (subjectRef: string): string => `names ${subjectRef}`
const boxOf = (key: KeyObject): WrappingKey =>
  createLocalWrappingKey(key.export().toString('base64'))

export const sealNames = (
  key: KeyObject,
  subjectRef: string,
  names: SubjectNames,
): Promise<Buffer> => boxOf(key).wrap(Buffer.from(JSON.stringify(names)), contextOf(subjectRef))

/** Undefined where they are not what was sealed. */
export async function openNames(
  key: KeyObject,
  subjectRef: string,
  sealed: Buffer,
): Promise<SubjectNames | undefined> {
  try {
    const opened = await boxOf(key).unwrap(sealed, contextOf(subjectRef))
    return JSON.parse(opened.toString()) as SubjectNames
  } catch {
    return undefined
  }
}

/** What lies wrapped, and by which key. */
export interface WrappedKey {
  readonly wrappedKey: Buffer
  readonly wrappingKeyId: string
}

export const wrapWith = async (
  wrapping: WrappingKey,
  key: Buffer,
  context: string,
): Promise<WrappedKey> => ({
  wrappedKey: await wrapping.wrap(key, context),
  wrappingKeyId: wrapping.id,
})

/** Throws BATON_VAULT_KEY_UNREADABLE, also where the ring does not have the key that wrapped it. */
export async function unwrapFrom(
  ring: KeyRing<WrappingKey>,
  { wrappedKey, wrappingKeyId }: WrappedKey,
  context: string,
): Promise<Buffer> {
  const wrapping = ring.find(wrappingKeyId)
  if (wrapping === undefined) throw unreadable(wrappingKeyId)
  return wrapping.unwrap(wrappedKey, context)
}
