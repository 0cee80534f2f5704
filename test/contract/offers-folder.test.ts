// Protocol v0.1 in a folder of files.
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openFolder } from '@baton/offers'
import { describeOffers } from './offers-contract.ts'

const ROOT = mkdtempSync(join(tmpdir(), 'baton-offers-'))
afterAll(() => rmSync(ROOT, { recursive: true }))

describeOffers('folder', async () => openFolder(await mkdtemp(join(ROOT, 'folder-'))))
