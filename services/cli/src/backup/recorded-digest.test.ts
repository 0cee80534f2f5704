// Which digests of a backup wait to be recorded: whoever may deliver writes there too, and must keep nobody from a restore.
import { expect, test } from 'vitest'
import { digestsInTexts } from './recorded-digest.ts'

const ID = '20261128T120000000Z'
const taken = (details: unknown, subject = ID) =>
  JSON.stringify({ event: 'BACKUP_TAKEN', operation: { subject, details } })

test('what waits and is no record of the backup names nothing', () => {
  const texts = [
    `BACKUP_TAKEN ${ID}`,
    'null',
    '[]',
    taken(ID),
    taken([null]),
    taken([{ code: 'MANIFEST', value: null, sha256: null }]),
    taken([{ code: 'MANIFEST', value: null, sha256: 'other' }], 'another'),
    taken([{ code: 'MANIFEST', value: null, sha256: 'own' }]),
  ]
  expect(digestsInTexts(texts, ID)).toEqual(['own'])
})
