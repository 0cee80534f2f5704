// Only archives that are what the distribution's index says are unpacked.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { checkedArchives } from './archives.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-archives-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const FILE = 'redis-server_5%3a7.0.15-1~deb12u7_amd64.deb'
const lineOf = (file: string, text: string, algorithm = 'sha256') =>
  `'http://deb.example/pool/${file}' ${file} ${text.length} ${algorithm.toUpperCase()}:${createHash(algorithm).update(text).digest('hex')}\n`
const put = (file: string, text: string) => writeFileSync(join(folder, file), text)

it('takes archives that are as the index says', async () => {
  put(FILE, 'one')
  put('liblua.deb', 'two')
  const printed = lineOf(FILE, 'one') + lineOf('liblua.deb', 'two', 'sha512')
  expect((await checkedArchives(folder, printed)).toSorted()).toEqual([
    join(folder, 'liblua.deb'),
    join(folder, FILE),
  ])
})

it.each([
  ['that was altered', lineOf(FILE, 'another')],
  ['of which the index says nothing', lineOf('liblua.deb', 'one')],
  ['with a weak digest alone', lineOf(FILE, 'one', 'md5')],
  ['beside nothing at all', ''],
])('refuses an archive %s', async (_, printed) => {
  put(FILE, 'one')
  await expect(checkedArchives(folder, printed)).rejects.toThrow(/not what the signed|no digest/)
})

it('refuses one more than was asked for', async () => {
  put(FILE, 'one')
  put('extra.deb', 'two')
  await expect(checkedArchives(folder, lineOf(FILE, 'one'))).rejects.toThrow('extra.deb')
})
