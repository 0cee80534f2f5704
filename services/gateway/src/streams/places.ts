// Places of those who keep a connection open to read: bounded in all and for each key.
import { ProblemError } from '@baton/http/server'
import type { ReaderBounds } from './reader-bounds.ts'

/** `take` answers what gives the place back. Throws 503 BATON_READERS_FULL, or 429 for a key that has its share. */
export function createPlaces({ max, perKeyMax }: ReaderBounds) {
  const byKey = new Map<string, number>()
  let taken = 0
  return {
    take(keyId: string): () => void {
      const own = byKey.get(keyId) ?? 0
      if (own >= perKeyMax) throw KEY_FULL
      if (taken >= max) throw FULL
      taken += 1
      byKey.set(keyId, own + 1)
      return () => {
        taken -= 1
        const left = (byKey.get(keyId) ?? 1) - 1
        if (left === 0) byKey.delete(keyId)
        else byKey.set(keyId, left)
      }
    },
  }
}

const FIX = 'Read fewer streams at once, or in pages without text/event-stream.'

const KEY_FULL = new ProblemError({
  status: 429,
  code: 'BATON_READERS_FULL',
  detail: 'this API key reads as many streams as it may',
  fix: FIX,
  headers: { 'retry-after': '5' },
})

const FULL = new ProblemError({
  status: 503,
  code: 'BATON_READERS_FULL',
  detail: 'this gateway has as many readers of streams as it takes',
  fix: FIX,
  headers: { 'retry-after': '5' },
})
