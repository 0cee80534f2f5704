// The gateway as its own process: takes its settings, serves on the loopback interface, drains on SIGTERM.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHttpClient } from '@baton/http/client'
import { readTls } from '@baton/runtime'
import {
  askBesideCrowd,
  createTestAuthority,
  eventually,
  fetchAfresh,
  openCrowd,
  spawnService,
} from '@baton/testkit'
import { keys, openGateway, READ_TOKEN, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway()
})
afterAll(() => fixture.close())

const MAIN = 'services/gateway/src/main.ts'

const settings = (changes: Record<string, string> = {}) => ({
  BATON_DATABASE_URL: fixture.databaseUrl,
  BATON_SIGNING_KEYS: `k1:active:${randomBytes(32).toString('base64')}`,
  BATON_API_KEYS: keys.sender.entry,
  BATON_AUDIT_URL: fixture.auditor.url,
  BATON_AUDIT_READ_TOKEN: READ_TOKEN,
  BATON_GATEWAY_PORT: '0',
  ...changes,
})

it('takes a handoff and ends cleanly when asked', async () => {
  const service = await spawnService({ main: MAIN, env: settings() })
  const url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(service.output())?.[1]
  const response = await fetch(`${url}/v2/handoffs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.sender.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(stateBody()),
  })
  expect(response.status).toBe(202)
  expect(await service.stop()).toBe(0)
})

it('speaks TLS with a certificate, and is open to other machines in no other way', async () => {
  const open = settings({ BATON_GATEWAY_HOST: '0.0.0.0' })
  const plain = await spawnService({ main: MAIN, env: open, ready: false })
  expect((await plain.exited()).code).toBe(1)
  expect(plain.output()).toMatch(/BATON_PLAINTEXT_REFUSED: BATON_GATEWAY_HOST is 0\.0\.0\.0/)

  await using authority = await createTestAuthority()
  const files = await authority.files('gateway')
  const env = { ...open, ...files, BATON_API_KEYS: keys.operator.entry }
  const service = await spawnService({ main: MAIN, env })
  const port = /"event":"gateway.listening","url":"https:.*?:(\d+)"/.exec(service.output())?.[1]
  const tls = readTls({ ...files, BATON_ALLOW_PLAINTEXT: false })
  const client = createHttpClient({
    url: `https://127.0.0.1:${port}`,
    name: 'the gateway',
    token: keys.operator.key,
    timeoutMs: 10_000,
    tls: { tls, setting: 'BATON_GATEWAY_URL' },
    unavailable: { code: 'BATON_GATEWAY_UNAVAILABLE' },
  })
  const sent = await client.json('/v2/handoffs', { body: stateBody() })
  expect(sent).toMatchObject({ handoffId: expect.any(String) })
  const { bytes } = await client.ask('/metrics')
  expect(bytes.toString().match(/(?<=^baton_expiry_timestamp_seconds).*(?= )/gm)).toEqual([
    '{kind="certificate",name="tls"}',
    '{kind="authority",name="tls"}',
  ])
  client.close()
  expect(await service.stop()).toBe(0)
})

it('answers probes on a port of their own', async () => {
  const service = await spawnService({ main: MAIN, env: settings() })
  const port = /"event":"ops.listening".*?"port":(\d+)/.exec(service.output())?.[1]
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
  expect([await ask('/healthz'), await ask('/readyz'), await ask('/metrics')]).toEqual([
    200, 200, 200,
  ])
  const crowd = await openCrowd(`http://127.0.0.1:${port}`, {
    count: 84,
    bytes: 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n',
    until: 'data',
  })
  for (let time = 0; time < 10; time += 1)
    expect(await fetchAfresh(`http://127.0.0.1:${port}/healthz`)).toBe(200)
  crowd.close()
  fixture.auditor.down = true
  await eventually(async () => (await ask('/readyz')) === 503, {
    deadlineMs: 10_000,
    describe: 'the gateway to say that the auditor is away',
  })
  fixture.auditor.down = false
  await service.kill()
})

it.runIf(process.platform === 'linux')(
  '600 idle sockets of one address keep nobody else waiting, neither callers nor probes (only on Linux)',
  async () => {
    const BATON_API_KEYS = keys.operator.entry
    const service = await spawnService({ main: MAIN, env: settings({ BATON_API_KEYS }) })
    const url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(service.output())?.[1] ?? ''
    const port = /"event":"ops.listening".*?"port":(\d+)/.exec(service.output())?.[1]
    const ops = `http://127.0.0.1:${port}`
    const authorization = `Bearer ${keys.operator.key}`
    for (const crowded of [url, ops]) {
      const { statuses, fastestMs } = await askBesideCrowd(crowded, {
        [`${url}/v2/tasks`]: { authorization },
        [`${url}/healthz`]: {},
        [`${ops}/healthz`]: {},
        [`${ops}/readyz`]: {},
      })
      expect([...statuses]).toEqual([200])
      expect(Math.max(...fastestMs)).toBeLessThan(100)
    }
    await service.kill()
  },
)

it('says everything that is wrong with its settings, and no secret', async () => {
  const wrong = settings({ BATON_GATEWAY_PORT: 'http', BATON_AUDIT_READ_TOKEN: '' })
  const service = await spawnService({ main: MAIN, env: wrong, ready: false })
  expect((await service.exited()).code).toBe(1)
  expect(service.output()).toMatch(/BATON_SETTINGS_INVALID[\s\S]*BATON_AUDIT_READ_TOKEN is missing/)
  expect(service.output()).toContain('BATON_GATEWAY_PORT is "http"')
  const mixedUp = await spawnService({
    main: MAIN,
    env: settings({ BATON_API_KEYS: keys.sender.key }),
    ready: false,
  })
  expect((await mixedUp.exited()).code).toBe(1)
  expect(mixedUp.output()).toContain('BATON_API_KEYS_INVALID')
  expect(mixedUp.output()).not.toContain(keys.sender.key)
})

it('does not start with profiles that are wrong, and says where', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'baton-profiles-')), 'profiles.json')
  for (const [file, problem] of [
    ['{\n  "profiles": [,]\n}', /at \/profiles\/0: .*line 2, column 16/],
    [
      '{"profiles":[{"id":"a","blockFrom":["b"]}]}',
      /at \/profiles\/0\/blockFrom\/0: no profile has this id/,
    ],
  ] as const) {
    writeFileSync(path, file)
    const service = await spawnService({
      main: MAIN,
      env: settings({ BATON_PROFILES: path }),
      ready: false,
    })
    expect((await service.exited()).code).toBe(1)
    expect(service.output()).toMatch(problem)
    expect(service.output()).toContain('BATON_PROFILES_INVALID')
  }
})
