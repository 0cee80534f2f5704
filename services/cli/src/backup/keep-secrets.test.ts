// Secrets that are kept apart are for their owner alone, whatever stood in their place.
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keepSecrets } from './keep-secrets.ts'

const OTHERS = 0o077
let place: string

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'baton-kept-'))
})
afterAll(() => rm(place, { recursive: true }))

it('keeps them from others also where a file that all may read was there', async () => {
  const [home, to] = [join(place, 'home'), join(place, 'kept.json')]
  await mkdir(join(home, 'secrets'), { recursive: true })
  await writeFile(join(home, 'secrets', 'pg'), 'secret')
  await writeFile(to, '')
  await chmod(to, 0o644)
  const settings = { BATON_BACKUP_PASSPHRASE: undefined } as never
  await keepSecrets({ home, settings }, { to, root: join(place, 'backups') })
  expect((await stat(to)).mode & OTHERS).toBe(0)
})
