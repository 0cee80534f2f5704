// A followed file: what changed is taken once, what is wrong is told of once and changes nothing, and what may pass is tried again.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { permanent, transient } from './errors.ts'
import { createFileLook } from './followed-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-followed-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const invalid = (problem: string) =>
  permanent('BATON_FILE_INVALID', problem, { fix: 'Correct it.' })

function follow() {
  const path = join(folder, 'file')
  const heard: string[] = []
  let taken = ''
  const look = createFileLook({
    path,
    bytesMax: 16,
    invalid,
    isTaken: (sha256) => sha256 === taken,
    take(bytes, sha256) {
      const text = Buffer.from(bytes).toString()
      if (text === 'wrong') throw invalid('is wrong')
      if (text === 'later') throw transient('BATON_AWAY', 'away', { fix: 'Wait.' })
      taken = sha256
      heard.push(`took ${text}`)
    },
    refused: ({ message }) => heard.push(message),
    mended: () => heard.push('mended'),
  })
  return { heard, look, put: (text: string) => writeFileSync(path, text) }
}

it('takes what changed, once', async () => {
  const { heard, look, put } = follow()
  put('one')
  await look()
  await look()
  put('two')
  await look()
  put('one')
  await look()
  expect(heard).toEqual(['took one', 'took two', 'took one'])
})

it('refuses what is wrong, missing or too large once, and takes what comes after', async () => {
  const { heard, look, put } = follow()
  await look()
  await look()
  put('wrong')
  await look()
  await look()
  put('x'.repeat(17))
  await look()
  put('x'.repeat(16))
  await look()
  expect(heard).toEqual([
    'cannot be read (ENOENT)',
    'is wrong',
    'is larger than 16 bytes',
    `took ${'x'.repeat(16)}`,
    'mended',
  ])
})

it('tells again of what was right in between', async () => {
  const { heard, look, put } = follow()
  for (const text of ['one', 'wrong', 'one', 'wrong']) {
    put(text)
    await look()
  }
  expect(heard).toEqual(['took one', 'is wrong', 'mended', 'is wrong'])
})

it('throws what may pass, and tries again', async () => {
  const { heard, look, put } = follow()
  put('later')
  await expect(look()).rejects.toThrow('away')
  await expect(look()).rejects.toThrow('away')
  expect(heard).toEqual([])
})
