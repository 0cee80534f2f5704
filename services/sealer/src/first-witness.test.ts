// What the first witness cosigned is believed of this log alone: it may cosign others, and the database only keeps its words.
import { generateKeyPairSync } from 'node:crypto'
import type { Anchor, Pool } from '@baton/audit'
import { createCosigner, EMPTY_ROOT, formatCheckpoint, signNote } from '@baton/ledger'
import { expect, it } from 'vitest'
import { createFirstWitness } from './first-witness.ts'

const pkcs8Of = () =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')
const identity = () => createCosigner({ name: 'witness.example/first', pkcs8: pkcs8Of() })

it.each([
  ['of this log', 'baton.example/seals', true, 7],
  ['of another log', 'baton.example/other', true, undefined],
  ['that somebody else signed', 'baton.example/seals', false, undefined],
])('a note %s', async (_, origin, isOwn, size) => {
  const witness = identity()
  const text = formatCheckpoint({ origin, size: 7, root: EMPTY_ROOT })
  const signer = isOwn ? witness : identity()
  const cosigned = { key: signer.key, sign: (said: string) => signer.cosign(said, 1_700_000_000) }
  const rows = [{ size: 7, note: signNote(text, [cosigned]) }]
  const first = createFirstWitness({
    pool: { query: async () => ({ rows, rowCount: 1 }) } as unknown as Pool,
    anchor: { name: 'witness' } as Anchor,
    key: witness.key,
    origin: 'baton.example/seals',
  })
  expect((await first.seen())?.size).toBe(size)
})
