// The example of protocol v0.1: two agents, a folder, and nothing else.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createOffers, openFolder } from '@baton/offers'

const MAIN = fileURLToPath(new URL('../../examples/two_agents/src/main.ts', import.meta.url))

it('P20 leads three files through two agents', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-two-agents-'))
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, folder])
  const lines = stdout.trim().split('\n')
  expect(lines.slice(0, 3)).toEqual([
    'scanner offers src/auth.py (offered)',
    'scanner offers src/billing.py (offered)',
    'scanner offers vendor/zlib.c (offered)',
  ])
  expect(lines.slice(3, 9).toSorted()).toEqual([
    'reviewer accepts src/auth.py (accepted)',
    'reviewer accepts src/billing.py (accepted)',
    'reviewer accepts vendor/zlib.c (accepted)',
    'reviewer completes src/auth.py (completed)',
    'reviewer completes src/billing.py (completed)',
    'reviewer fails vendor/zlib.c (failed)',
  ])
  expect(lines.slice(9)).toEqual([
    'scanner offers again vendor/zlib.c (offered)',
    'reviewer rejects vendor/zlib.c (rejected)',
    '2 files reviewed, findings: 1',
  ])
  const { handoffs, foreign } = await createOffers({ storage: openFolder(folder) }).listHandoffs()
  expect(handoffs.map(({ status }) => status).toSorted()).toEqual([
    'completed',
    'completed',
    'rejected',
  ])
  expect(foreign).toEqual([])
  await rm(folder, { recursive: true })
})
