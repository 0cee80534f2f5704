// What is known of erasures is read again after a crash cut the last line of the journal.
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JournalledErasure } from '@baton/audit'
import { expect, onTestFinished, test } from 'vitest'
import { appendToJournal, readJournal } from './erasure-journal.ts'

const erasure = (id: string): JournalledErasure => ({
  id,
  basis: 'request',
  requestedBy: 'privacy-1',
  requestedAt: '2026-11-01T00:00:00.000000Z',
  confirmedBy: 'privacy-2',
  confirmedAt: '2026-11-01T00:01:00.000000Z',
  handoffIds: [],
  taskIds: [],
  signed: null,
  subjectRefs: [],
})

async function temporaryJournal(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'erasure-journal-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'erasures.jsonl')
}

test('a line that a crash or a full disk cut does not damage the next', async () => {
  const path = await temporaryJournal()
  const first = { erasures: [erasure('one')], completeUntil: '2026-11-02T00:00:00.000Z' }
  await appendToJournal(path, first)
  await appendFile(path, '{"erasure":{"id":"tw')
  expect(await readJournal(path)).toEqual(first)
  const second = {
    erasures: [erasure('one'), erasure('two')],
    completeUntil: '2026-11-03T00:00:00.000Z',
  }
  expect(await appendToJournal(path, second)).toEqual(second)
  expect(await readJournal(path)).toEqual(second)
  expect((await readFile(path, 'utf8')).match(/"id":"one"/g)).toHaveLength(1)
})
