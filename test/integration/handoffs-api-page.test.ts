// The commands of infra/protocols/handoffs-api.md do what the page says, on the profiles that it names.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { createApiKey } from '@baton/gateway'
import { PEOPLE } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openGateway } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const ROOT = new URL('../../', import.meta.url)
const page = readFileSync(new URL('infra/protocols/handoffs-api.md', ROOT), 'utf8')
const key = createApiKey({
  scopes: 'handoffs:send+handoffs:read+approvals:decide',
  operator: 'operator',
})
const reviewer = createApiKey({
  scopes: 'handoffs:read+approvals:decide',
  operator: 'reviewer-1',
})

let fixture: GatewayFixture
beforeAll(async () => {
  const profilesPath = new URL('infra/protocols/profiles.json', ROOT).pathname
  fixture = await openGateway({ key, reviewer }, { foreign: { profilesPath } })
  await fixture.gateway.start()
})
afterAll(() => fixture.close())

/** The lines that the page's block in this language prints. */
async function runBlock(language: string, command: readonly [string, ...string[]]) {
  const block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1] ?? ''
  const [program, ...args] = command
  const child = spawn(program, [...args, block], {
    cwd: ROOT,
    env: {
      ...process.env,
      BATON: fixture.gateway.url,
      KEY: key.key,
      REVIEWER: reviewer.key,
      BATON_PERSON_KEY: PEOPLE.secretOf('reviewer-1'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = [text(child.stdout), text(child.stderr)]
  const [exitCode] = (await once(child, 'close')) as [number]
  const [stdout = '', stderr = ''] = await Promise.all(printed)
  return { exitCode, lines: stdout.trim().split('\n'), stderr }
}

it('R01 R05 R15 hands over, lists and approves with curl', async () => {
  expect(await runBlock('sh', ['sh', '-euc'])).toEqual({
    exitCode: 0,
    lines: ['1', '1', 'accepted', 'Ann', 'reviewer-1'],
    stderr: '',
  })
})

it('R05 R11 R13 hands over and is refused with fetch', async () => {
  expect(await runBlock('js', [process.execPath, '--input-type=module', '--eval'])).toEqual({
    exitCode: 0,
    lines: ['pending true', '400 Cannot hand off to the same profile (no self-handoff)'],
    stderr: '',
  })
})
