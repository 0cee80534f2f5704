// Collecting finds each distinct licence once, in a fixed order, whatever lies beside it.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collectLicences } from './collect-licences.ts'

let root: string

async function write(path: string, content: string): Promise<void> {
  const file = join(root, 'node_modules/.pnpm', path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'baton-licences-'))
  await write('b@2.0.0/node_modules/b/package.json', '{"name":"b","version":"2.0.0"}')
  await write('b@2.0.0/node_modules/b/LICENCE.md', 'Copyright (c) B\n\nBe  good.')
  await write('b@2.0.0/node_modules/b/license.js', 'export {}')
  await write('b@2.0.0/node_modules/b/NOTICE', 'n'.repeat(131_073))
  await write('a@1.0.0/node_modules/@x/a/package.json', '{"name":"@x/a","version":"1.0.0"}')
  await write('a@1.0.0/node_modules/@x/a/LICENSE', 'Copyright (c) A\n\nBe good.')
  await write('a@1.0.0/node_modules/@x/a/LICENSE-MIT.txt', 'Copyright (c) A Be\r\ngood.')
  await write('c@1.0.0/node_modules/c/package.json', 'broken')
  await write('c@1.0.0/node_modules/c/COPYING', 'Be bad.')
  await write('c@1.0.0/node_modules/c/UNLICENSE', ' \n')
  await symlink(
    join(root, 'node_modules/.pnpm/b@2.0.0/node_modules/b'),
    join(root, 'node_modules/.pnpm/c@1.0.0/node_modules/b'),
  )
})
afterAll(() => rm(root, { recursive: true, force: true }))

describe('collecting licences', () => {
  it('lists distinct texts of real packages in a fixed order', async () => {
    const texts = await collectLicences(root)
    expect(texts.map(({ package: name, version, path }) => [name, version, path])).toEqual([
      ['@x/a', '1.0.0', 'node_modules/.pnpm/a@1.0.0/node_modules/@x/a/LICENSE'],
      ['b', '2.0.0', 'node_modules/.pnpm/b@2.0.0/node_modules/b/LICENCE.md'],
      ['c', '0.0.0', 'node_modules/.pnpm/c@1.0.0/node_modules/c/COPYING'],
    ])
    expect(await collectLicences(root)).toEqual(texts)
  })

  it('finds none where nothing is installed', async () => {
    expect(await collectLicences(join(root, 'nowhere'))).toEqual([])
  })
})
