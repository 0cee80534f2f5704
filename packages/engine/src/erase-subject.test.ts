// What the log calls completed is erased again where a restore brought it back, and nothing that one person alone has planned.
import { NOBODY } from '@baton/ledger'
import { expect, it } from 'vitest'
import { replayErasures } from './erase-subject.ts'
import type { ErasureView } from './erase-subject.ts'

const SIGNED = { keyId: '0', signedAt: '', content: '', signature: '' }
const COMPLETED: ErasureView = {
  id: 'b1d5c7c8-0c5a-4f0e-8c0e-1d2f3a4b5c6d',
  state: 'COMPLETED',
  basis: 'GDPR_ART_17_1',
  requestedBy: 'ann',
  requestedSigned: SIGNED,
  confirmedBy: 'bob',
  confirmedSigned: SIGNED,
  handoffIds: ['9d0d8b0e-5b4f-4c6c-9f52-0a1b2c3d4e5f'],
  taskIds: [],
}

async function isErasedAgain(changes: Partial<ErasureView>): Promise<boolean> {
  let isAsked = false
  const query = async () => {
    isAsked = true
    return { rows: [], rowCount: 0 }
  }
  await replayErasures({
    pool: { query } as never,
    people: NOBODY,
    backupDays: 0,
    erasures: {
      replay: async () => ({}),
      async *list() {
        yield { ...COMPLETED, ...changes }
      },
    } as never,
  })
  return isAsked
}

it.each([
  ['signed by two people, of whom the keys count no more', {}, true],
  ['of before people signed erasures', { requestedSigned: null, confirmedSigned: null }, true],
  [
    'that one person planned and nobody confirmed',
    { confirmedBy: null, confirmedSigned: null },
    false,
  ],
  ['that nobody signed as the second person', { confirmedSigned: null }, false],
  ['that one person confirmed to themselves', { confirmedBy: 'ann' }, false],
])('an erasure called completed, %s', async (_, changes, isErased) => {
  expect(await isErasedAgain(changes)).toBe(isErased)
})
