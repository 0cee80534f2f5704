// The sender as its own process: its stdout carries answers alone, its readiness is its database's, and it drains like every other.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, spawnService } from '@baton/testkit'
import { openGateway } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway()
})
afterAll(() => fixture.close())

const AWAY = 'postgres://baton_app:none@127.0.0.1:1/baton'

const startSender = (databaseUrl: string) =>
  spawnService({
    main: 'services/sender/src/main.ts',
    env: {
      BATON_DATABASE_URL: databaseUrl,
      BATON_SIGNING_KEYS: `k1:active:${randomBytes(32).toString('base64')}`,
    },
    ready: /"event":"service.started"/,
    input: true,
  })

const statusOf = async (sender: Awaited<ReturnType<typeof startSender>>): Promise<number> => {
  const port = /"event":"ops.listening".*?"port":(\d+)/.exec(sender.output())?.[1]
  return (await fetch(`http://127.0.0.1:${port}/readyz`)).status
}

it('is ready while its database answers', async () => {
  const [sender, cutOff] = await Promise.all([startSender(fixture.databaseUrl), startSender(AWAY)])
  expect([await statusOf(sender), await statusOf(cutOff)]).toEqual([200, 503])
  expect([await sender.stop(), await cutOff.stop()]).toEqual([0, 0])
  expect(sender.stdout()).toBe('')
})

it('answers every line that it read before SIGTERM, and says by its exit code that one was refused', async () => {
  const sender = await startSender(fixture.databaseUrl)
  sender.write('{"not": "a request"}\n')
  await eventually(() => sender.stdout().endsWith('\n'), {
    deadlineMs: 10_000,
    describe: () => `an answer\n${sender.output()}`,
  })
  expect(await sender.stop()).toBe(1)
  expect(JSON.parse(sender.stdout())).toMatchObject({
    line: 1,
    error: { code: 'BATON_LINE_INVALID' },
  })
})
