// A file that a setting names is read whole, or refused in words that say why.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { permanent } from './errors.ts'
import { readNamedFile } from './named-file.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-named-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const read = (name: string) =>
  readNamedFile(join(folder, name), (problem) =>
    permanent('BATON_FILE_INVALID', `${name} ${problem}`, { fix: 'Correct it.' }),
  )

it('reads a file whole', () => {
  writeFileSync(join(folder, 'one'), 'all of it')
  expect(read('one').toString()).toBe('all of it')
})

it('says why one cannot be read', () => {
  expect(() => read('none')).toThrow('none cannot be read (ENOENT)')
  expect(() => read('.')).toThrow('. is no regular file')
  execFileSync('mkfifo', [join(folder, 'pipe')])
  expect(() => read('pipe')).toThrow('pipe is no regular file')
})

it('refuses one of more than 1 MiB', () => {
  writeFileSync(join(folder, 'large'), '')
  truncateSync(join(folder, 'large'), 1_048_576)
  expect(read('large')).toHaveLength(1_048_576)
  truncateSync(join(folder, 'large'), 1_048_577)
  expect(() => read('large')).toThrow('large is larger than 1048576 bytes')
})
