// A file that cannot be used is refused with the reason, before anything is started.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readInput } from './read-input.ts'

let folder = ''
const put = async (name: string, content: string | Uint8Array) => {
  await writeFile(join(folder, name), content)
  return join(folder, name)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-input-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('readInput', () => {
  it('reads text up to the limit, to the byte', async () => {
    expect(await readInput(await put('fits', 'äöü'), 6)).toBe('äöü')
    await expect(readInput(await put('large', 'äöüx'), 6)).rejects.toMatchObject({
      code: 'BATON_USAGE',
      message: expect.stringContaining('larger than 6 bytes') as string,
    })
  })

  it.each([
    ['a missing file', () => join(folder, 'nothing'), 'BATON_FILE_NOT_FOUND', 'there is no file'],
    [
      'a path through a file',
      async () => join(await put('plain', 'x'), 'y'),
      'BATON_FILE_NOT_FOUND',
      'no file',
    ],
    ['a folder', () => folder, 'BATON_USAGE', 'is not a file'],
    ['an empty file', () => put('empty', ''), 'BATON_USAGE', 'is empty'],
    ['blanks', () => put('blank', ' \n\t'), 'BATON_USAGE', 'is empty'],
    [
      'a binary file',
      () => put('binary', Uint8Array.of(127, 69, 76, 70, 0, 1)),
      'BATON_USAGE',
      'not text',
    ],
    [
      'another encoding',
      () => put('latin1', Uint8Array.of(0x4d, 0xfc, 0x6c)),
      'BATON_USAGE',
      'not text',
    ],
  ] as const)('refuses %s', async (_, path, code, problem) => {
    await expect(readInput(await path(), 1000)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(problem) as string,
    })
  })
})
