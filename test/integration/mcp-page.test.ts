// The commands of infra/protocols/mcp.md do what the page says, and what it gives clients to read is JSON.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { createApiKey } from '@baton/gateway'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openGateway } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const page = readFileSync(new URL('../../infra/protocols/mcp.md', import.meta.url), 'utf8')
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, block = '']) => block,
  )

const key = createApiKey({ scopes: 'handoffs:read', operator: 'operator' })
let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway({ key })
  await fixture.gateway.start()
})
afterAll(() => fixture.close())

it('lists, looks and reads a schema with curl', async () => {
  const child = spawn('sh', ['-euc', blocks('sh').join('\n')], {
    env: { ...process.env, BATON: fixture.gateway.url, KEY: key.key },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = [text(child.stdout), text(child.stderr)]
  const [exitCode] = (await once(child, 'close')) as [number]
  const [stdout = '', stderr = ''] = await Promise.all(printed)
  expect([exitCode, stderr]).toEqual([0, ''])
  const lines = stdout.trim().split('\n')
  expect(lines).toContain('"name":"trace_task"')
  expect(lines.slice(-3)).toEqual(['listed', '"totalIsExact":true', 'application/schema+json'])
})

it('gives clients settings that they can read', () => {
  const read = blocks('json').map((block) => JSON.parse(block) as object)
  expect(read.map((one) => Object.keys(one).at(-1))).toEqual([
    'mcpServers',
    'servers',
    'mcpServers',
  ])
})
