// Where objects of the log stand for good: written once, never replaced, found by their path.
import { transient } from '@baton/runtime'

/**
 * Keeps whole objects under names like `<origin>/tile/0/001`. Everything but hash tiles is zstd: a
 * folder says so by the suffix `.zst`, an HTTP store by `Content-Encoding`.
 */
export interface ColdStore {
  /** Words for a person: which store this is. */
  readonly description: string
  /** Durable when it resolves. Never replaces an object, whatever it holds. */
  putIfAbsent(name: string, bytes: Uint8Array): Promise<'stored' | 'present'>
  /** The bytes as they were put; undefined when there is no such object. */
  get(name: string): Promise<Uint8Array | undefined>
  /** The names that begin with `prefix`, sorted. */
  list(prefix: string): Promise<readonly string[]>
  /** For objects whose retention has ended. Safe to repeat. */
  remove(names: readonly string[]): Promise<void>
}

/** Hash tiles do not compress. */
export const isCompressed = (name: string): boolean => !/\/tile\/\d+\//.test(name)

/** A transient BATON_COLD_STORE_UNAVAILABLE; `what` is what the store does not do. */
export const coldStoreUnavailable = (what: string, cause: unknown) =>
  transient('BATON_COLD_STORE_UNAVAILABLE', `the cold store does not ${what}`, {
    cause,
    fix: 'Check its address, credentials and free space; archiving resumes by itself.',
  })
