// A drill deletes what an earlier one left, and nothing that somebody else wrote there names.
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withThrowAway } from './throw-away.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-throw-'))
})
afterAll(() => rm(folder, { recursive: true }))

it.each(['writes to', 'has linked'])('takes no place that somebody else %s', async (how) => {
  const precious = join(folder, crypto.randomUUID())
  await mkdir(precious)
  await writeFile(join(precious, 'file'), 'precious')
  const place = join(folder, crypto.randomUUID())
  const made = how === 'writes to' ? place : join(folder, crypto.randomUUID())
  await mkdir(made)
  const details = { home: precious, pid: 1, port: 1 }
  await writeFile(join(made, 'operational.json'), JSON.stringify({ details, users: [] }))
  if (made === place) await chmod(place, 0o777)
  else await symlink(made, place)
  const stored = { manifest: { servers: [{ name: 'operational' }] } }
  const options = { place, stored, root: folder, until: 'end' } as never
  await expect(withThrowAway({} as never, options, async () => undefined)).rejects.toThrow(
    expect.objectContaining({ code: 'BATON_FILE_NOT_ALLOWED' }),
  )
  expect(await readFile(join(precious, 'file'), 'utf8')).toBe('precious')
})
