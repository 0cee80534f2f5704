// The commands of infra/protocols/session.md do what the page says, with the peers and the worker that it names.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSessionWorld, soon } from './session-fixture.ts'
import type { SessionWorld } from './session-fixture.ts'

const ROOT = new URL('../../', import.meta.url)
const fileOf = (name: string): string => new URL(`infra/protocols/${name}`, ROOT).pathname
const page = readFileSync(fileOf('session.md'), 'utf8')

const worker = spawn('python3', [fileOf('session_worker.py'), '0', 'worker-token'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
let world: SessionWorld
const folder = mkdtempSync(join(tmpdir(), 'baton-session-page-'))
beforeAll(async () => {
  let said = ''
  worker.stdout.setEncoding('utf8').on('data', (part: string) => (said += part))
  const port = await soon('the worker listens', () => /listening (\d+)/.exec(said)?.[1])
  const peers = readFileSync(fileOf('peers.json'), 'utf8').replace('8431', port)
  const path = join(folder, 'peers.json')
  writeFileSync(path, peers)
  world = await openSessionWorld('session page', [], {
    BATON_PEERS: path,
    WORKER_TOKEN: 'worker-token',
    BATON_SESSION_WAIT_MS: '20000',
  })
})
afterAll(async () => {
  await world.close()
  worker.kill()
  rmSync(folder, { recursive: true })
})

it('S15 S17 S18 S22 is dispatched to, and dispatches, with Python and curl', async () => {
  const block = /^```sh\n(.*?)^```$/ms.exec(page)?.[1] ?? ''
  const child = spawn('sh', ['-euc', block], {
    cwd: ROOT,
    env: { ...process.env, BATON: world.address() },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = [text(child.stdout), text(child.stderr)]
  const [exitCode] = (await once(child, 'close')) as [number]
  const [stdout = '', stderr = ''] = await Promise.all(printed)
  expect({ exitCode, lines: stdout.trim().split('\n'), stderr }).toEqual({
    exitCode: 0,
    lines: ['"status":"done"', '"blocked_reason":"unmet requirements: mcp trek"', '401'],
    stderr: '',
  })
})
