// A fault of the machine is told from one of Baton, with its place and remedy, by whatever name it is given.
import { describe, expect, it } from 'vitest'
import { machineTrouble } from './machine-trouble.mjs'

const codeOf = (problem: unknown) => machineTrouble(problem)?.code

describe('machineTrouble', () => {
  it.each([
    ["ENOSPC: no space left on device, open '/home/x/.baton/logs/cli.log'", 'BATON_DISK_FULL'],
    [
      'PANIC:  could not write to file "pg_wal/xlogtemp.29": No space left on device',
      'BATON_DISK_FULL',
    ],
    ["EROFS: read-only file system, mkdir '/x/.baton/logs'", 'BATON_DISK_READ_ONLY'],
    [
      'FATAL:  insufficient file descriptors available to start server process',
      'BATON_FILES_EXHAUSTED',
    ],
    ["EMFILE: too many open files, open '/x'", 'BATON_FILES_EXHAUSTED'],
    [
      'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
      'BATON_MEMORY_EXHAUSTED',
    ],
    ['spawn /usr/bin/node EAGAIN', 'BATON_PROCESSES_EXHAUSTED'],
    ["EACCES: permission denied, mkdir '/x/.baton'", 'BATON_FOLDER_NOT_ALLOWED'],
  ])('knows %s', (words, code) => {
    expect(codeOf(words)).toBe(code)
  })

  it('names the place and looks behind other errors', () => {
    const full = Object.assign(new Error("no space left on device, write '/x/pg.json'"), {
      code: 'ENOSPC',
    })
    expect(
      machineTrouble(new Error('the databases could not be prepared', { cause: full })),
    ).toEqual(
      expect.objectContaining({ code: 'BATON_DISK_FULL', message: 'the disk is full: /x/pg.json' }),
    )
  })

  it('takes nothing else for it', () => {
    expect(codeOf(new TypeError('x is not a function'))).toBeUndefined()
    expect(codeOf('BATON_DATABASE_UNAVAILABLE: the database did not answer')).toBeUndefined()
    expect(codeOf(undefined)).toBeUndefined()
  })
})
