// A run whose files never end is ended, names them, and counts what passed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

it('ends a run that has gone silent, and says which files', { timeout: 60_000 }, async () => {
  const list = join(mkdtempSync(join(tmpdir(), 'baton-stuck-')), 'list.json')
  onTestFinished(() => rmSync(dirname(list), { recursive: true }))
  const run = spawn(
    process.execPath,
    [
      at('../../../node_modules/vitest/vitest.mjs'),
      'run',
      '--config',
      at('../fixtures/stuck/vitest.config.ts'),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', BATON_TEST_STUCK: list },
    },
  )
  const ended = once(run, 'close')
  const [stdout, stderr] = await Promise.all([text(run.stdout), text(run.stderr)])
  expect(await ended).toEqual([1, null])
  expect(stderr).toMatch(/nothing was heard for 2(\.5)? s/)
  expect(stderr).toContain('  spins.test.ts › ')
  expect(stderr).toContain('  never-loads.test.ts › (outside any test)\n')
  expect(stdout).toMatch(/1 passed, \d+ failed\n$/)
  const named = JSON.parse(readFileSync(list, 'utf8')) as string[]
  expect(named.toSorted()).toEqual(['never-loads.test.ts', 'spins.test.ts'])
})
