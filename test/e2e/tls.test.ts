// An instance on TLS: the main job, what reads it afterwards, and plain text, which nothing of it takes any more.
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine, Finished } from './command-line.ts'
import { isFine, summaryOf } from './main-job.ts'

const RUN_MAX_MS = 180_000

describe('an instance on TLS', () => {
  let baton: CommandLine
  let up: Finished

  beforeAll(async () => {
    baton = await openCommandLine()
    up = await baton.run('up', '--once', '--reviews', '2', '--tls', '--json')
  }, RUN_MAX_MS)
  afterAll(() => baton.discard())

  it('does the main job', () => {
    expect(up.stderr).toContain('certificates made for every process')
    expect(isFine(up)).toBe(true)
    expect(summaryOf(up)).toMatchObject({ chainVerified: true })
  })

  it(
    'stays on TLS: its servers are started so by every other command',
    async () => {
      const verify = await baton.run('verify', '--json')
      expect(verify).toMatchObject({ exitCode: 0 })
      expect(await readFile(join(baton.home, 'pg', 'tls', 'pg_hba.conf'), 'utf8')).toContain(
        'hostssl',
      )
      expect((await baton.run('certs', 'ls', '--dir', join(baton.home, 'tls'))).stdout).toContain(
        'gateway',
      )
    },
    RUN_MAX_MS,
  )

  it(
    'goes back to plain text on this machine where that is said',
    async () => {
      const back = await baton.run('up', '--once', '--reviews', '2', '--no-tls', '--json')
      expect(summaryOf(back)).toMatchObject({ chainVerified: true })
      await expect(access(join(baton.home, 'tls'))).rejects.toThrow('ENOENT')
    },
    RUN_MAX_MS,
  )
})
