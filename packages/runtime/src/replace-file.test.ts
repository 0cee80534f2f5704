// A file is replaced whole or not at all, and nobody else may read it.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { replaceFile } from './replace-file.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'baton-replace-'))))
afterEach(() => rm(folder, { recursive: true }))

it('puts the new text where the old one stood and leaves nothing beside it', async () => {
  const path = join(folder, 'state.json')
  await replaceFile(path, 'old and longer\n')
  await replaceFile(path, 'new\n')
  expect(await readFile(path, 'utf8')).toBe('new\n')
  expect(await readdir(folder)).toEqual(['state.json'])
})

it('lets only its user read it', async () => {
  const path = join(folder, 'state.json')
  await replaceFile(path, 'text\n')
  expect((await stat(path)).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600)
})

it('keeps the old text until everything of the new one is written', async () => {
  const path = join(folder, 'state.json')
  await writeFile(path, 'old\n')
  const dying = replaceFile(path, 'new\n', () => {
    throw new Error('killed')
  })
  await expect(dying).rejects.toThrow('killed')
  expect(await readFile(path, 'utf8')).toBe('old\n')
  expect(await readFile(`${path}.draft`, 'utf8')).toBe('new\n')
  await replaceFile(path, 'newer\n')
  expect(await readdir(folder)).toEqual(['state.json'])
})
