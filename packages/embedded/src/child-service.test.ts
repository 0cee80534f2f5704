// A service that does not start says why, or that it said nothing, and what to do.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startChild } from './child-service.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'child-service-'))
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true })
})

function start(program: string) {
  const main = join(folder, 'main.mjs')
  writeFileSync(main, program)
  return startChild({ name: 'relay', main, folder, environment: {}, logsDir: folder })
}

it('tells the last words of what ended while it started', async () => {
  await expect(start(`console.error('BATON_X: no queue'); process.exit(3)`).ready).rejects.toThrow(
    'the relay ended with exit code 3 while starting; its last words:\n    BATON_X: no queue',
  )
})

it('says that it said nothing, instead of last words that are none', async () => {
  await expect(start('process.exit(3)').ready).rejects.toThrow(
    /^the relay ended with exit code 3 while starting; it said nothing$/,
  )
})

it('says of what is not ready in time that the machine may be busy', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { ready, stop } = start('setInterval(() => undefined, 1e9)')
  vi.advanceTimersByTime(90_000)
  await expect(ready).rejects.toMatchObject({
    message: 'the relay was not ready within 90 s; it said nothing',
    fix: expect.stringMatching(/^Where this machine is busy with other things, try again\. /),
  })
  await stop()
})
