// The sender as its own process: its stdout carries answers alone, its readiness is its database's, it drains like every other, and which key it signs with is on record.
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

const startSender = (databaseUrl: string, keyId = 'k1') =>
  spawnService({
    main: 'services/sender/src/main.ts',
    env: {
      BATON_DATABASE_URL: databaseUrl,
      BATON_SIGNING_KEYS: `${keyId}:active:${randomBytes(32).toString('base64')}`,
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
  await untilTold(1)
  expect([await sender.stop(), await cutOff.stop()]).toEqual([0, 0])
  expect(sender.stdout()).toBe('')
})

/** What waits to be recorded of the settings of senders. */
async function told() {
  const text = 'select entry from audit_outbox order by created_at'
  const { rows } = await fixture.pool.query<{ entry: string }>({ text })
  return rows.map(({ entry }) => {
    const { event, act, operation } = JSON.parse(entry)
    const values = operation.details.map(({ value }: { readonly value: string }) => value)
    return [event, act.actor, operation.subject, ...values]
  })
}

const untilTold = (count: number) =>
  eventually(async () => (await told()).length === count, {
    deadlineMs: 10_000,
    describe: () => `${count} records`,
  })

it('answers every line that it read before SIGTERM, and says by its exit code that one was refused', async () => {
  const sender = await startSender(fixture.databaseUrl, 'k2')
  sender.write('{"not": "a request"}\n')
  await eventually(() => sender.stdout().endsWith('\n'), {
    deadlineMs: 10_000,
    describe: () => `an answer\n${sender.output()}`,
  })
  await untilTold(3)
  expect((await told()).toSorted()).toEqual([
    ['KEY_ROTATED', 'sender', 'handoff', 'k2', 'k1'],
    ['SETTINGS_CHANGED', 'sender', 'sender', 'k1:active'],
    ['SETTINGS_CHANGED', 'sender', 'sender', 'k2:active'],
  ])
  expect(await sender.stop()).toBe(1)
  expect(JSON.parse(sender.stdout())).toMatchObject({
    line: 1,
    error: { code: 'BATON_LINE_INVALID' },
  })
})
