// Where objects of the log stand for good: written once, never replaced but for signed tree heads, found by their path.
import { tlsFailure } from '@baton/http/client'
import { transient } from '@baton/runtime'

/** Keeps whole objects under names like `<origin>/tile/0/001`, packed as its kind allows: what is put is what comes back. */
export interface ColdStore {
  /** Words for a person: which store this is. */
  readonly description: string
  /** Durable when it resolves. Never replaces an object, whatever it holds. */
  putIfAbsent(name: string, bytes: Uint8Array): Promise<'stored' | 'present'>
  /** For signed tree heads, which alone move. Durable when it resolves; whoever reads meanwhile gets the one before or the new one. */
  replace(name: string, bytes: Uint8Array): Promise<void>
  /** Undefined when there is no such object, null when it is damaged or more than `bytesMax`. */
  get(name: string, bytesMax?: number): Promise<Uint8Array | undefined | null>
  /** The names that begin with `prefix`, sorted. */
  list(prefix: string): Promise<readonly string[]>
  /** For objects whose retention has ended. Safe to repeat. */
  remove(names: readonly string[]): Promise<void>
}

export type ObjectKind = 'checkpoint' | 'entries' | 'hashes' | 'payloads'

export function kindOf(name: string): ObjectKind {
  if (name.endsWith('/checkpoint')) return 'checkpoint'
  if (name.includes('/payload/')) return 'payloads'
  return name.includes('/tile/entries/') ? 'entries' : 'hashes'
}

/** A transient BATON_COLD_STORE_UNAVAILABLE; `what` is what the store does not do. */
export function coldStoreUnavailable(what: string, cause: unknown) {
  const refused = tlsFailure(cause, 'the bucket')
  const why = refused === undefined ? '' : `: ${refused.message}`
  return transient('BATON_COLD_STORE_UNAVAILABLE', `the cold store does not ${what}${why}`, {
    cause,
    fix:
      refused?.fix ?? 'Check its address, credentials and free space; archiving resumes by itself.',
  })
}
