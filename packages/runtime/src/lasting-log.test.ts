// A log is there when it can be, says what is missing from it, and does not grow without end.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openLastingLog } from './lasting-log.ts'

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-log-'))
  path = join(folder, 'logs', 'some.log')
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

const text = () => readFileSync(path, 'utf8')
const makeFolder = () => mkdirSync(join(folder, 'logs'), { recursive: true })

it('begins anew or goes on', () => {
  makeFolder()
  writeFileSync(path, 'before\n')
  const going = openLastingLog(path, { isNew: false })
  going.write('more\n')
  going.close()
  going.write('too late\n')
  expect(text()).toBe('before\nmore\n')
  openLastingLog(path, { isNew: true }).close()
  expect(text()).toBe('')
})

it('goes on by itself once it can be written, and says how much is missing', () => {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const log = openLastingLog(path, { isNew: true })
  log.write('one\n')
  log.write('two\n')
  makeFolder()
  log.write('three\n')
  nowMs += 2_000
  log.write('four\n')
  log.close()
  expect(text()).toBe('{"level":"warn","event":"log.lost","writes":4}\nfour\n')
})

it('keeps one file before the present one', () => {
  makeFolder()
  const log = openLastingLog(path, { isNew: true, bytesMax: 8 })
  for (const line of ['first', 'second', 'third', 'fourth', 'fifth']) log.write(`${line}\n`)
  log.close()
  expect([readFileSync(`${path}.1`, 'utf8'), text()]).toEqual(['third\nfourth\n', 'fifth\n'])
})
