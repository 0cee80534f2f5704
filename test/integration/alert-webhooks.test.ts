// Alerts reach somebody: a real receiver of webhooks that is down, fails, hangs and redirects hears every change in order,
// under one id, and whoever delivers may die between telling and knowing it.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createAlertWebhooks, createReceiptReconciler } from '@baton/engine'
import { createLogger } from '@baton/runtime'
import {
  acknowledgeAlert,
  announceAlertWebhooks,
  claimAlertDeliveries,
  closeAlertById,
  findAlertWebhookTest,
  listAlerts,
  planAlertDeliveries,
  raiseAlert,
  testAlertWebhooks,
} from '@baton/store'
import type { AlertSeverity, Database } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { eventually } from '@baton/testkit'
import { openStore } from '../contract/store-fixture.ts'
import type { StoreFixture } from '../contract/store-fixture.ts'

const SECRETS = ['a', 'b'].map((fill) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`)
const PAGE = readFileSync(new URL('../../infra/alerts-as-webhooks.md', import.meta.url), 'utf8')

interface Message {
  readonly id: string
  readonly type: string
  readonly data: { readonly alert: Record<string, unknown> | null; readonly actor: string | null }
}
type Verify = (secret: string, headers: object, body: string) => Message

/** What the page tells readers to check with. */
let verify: Verify
let store: StoreFixture
const receiver = startReceiver()
const metrics = createMetrics()
const lines: string[] = []
const logger = () =>
  createLogger({
    service: 'test',
    level: 'debug',
    destination: { write: (line: string) => lines.push(line) },
  })
const running = new Set<{ stop(): Promise<unknown> }>()

beforeAll(async () => {
  const [, code = ''] = /```js\n(.*?)```/s.exec(PAGE) ?? []
  ;({ verify } = (await import(
    `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
  )) as { verify: Verify })
  ;[store] = await Promise.all([openStore('alert webhooks'), receiver.listening])
})
afterAll(async () => {
  await receiver.close()
  await store.close()
})
beforeEach(async () => {
  await store.rows('truncate alert, alert_change, alert_delivery, alert_webhook')
  receiver.reset()
  lines.length = 0
})
afterEach(async () => {
  await Promise.all([...running].map((one) => one.stop()))
  running.clear()
})

type Behave = (heard: number) => number | 'hang' | 'cut'

/** One server for all webhooks, by path. It answers 204, or as `behave` says of the n-th request to a path. */
function startReceiver() {
  const heard: { readonly path: string; readonly message: Message }[] = []
  const tries = new Map<string, number>()
  const behaving = new Map<string, Behave>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      const turn = (tries.get(path) ?? 0) + 1
      tries.set(path, turn)
      const answer = behaving.get(path)?.(turn) ?? 204
      const [message] = SECRETS.map((secret) => verify(secret, request.headers, body))
      if (message !== undefined) heard.push({ path, message })
      if (answer === 'cut') return void request.socket.destroy()
      if (answer !== 'hang') response.writeHead(answer, { location: '/elsewhere' }).end()
    })
  })
  const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    listening,
    url: (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    on: (path: string, behave: Behave) => void behaving.set(path, behave),
    at: (path: string) => heard.filter((one) => one.path === path).map(({ message }) => message),
    reset() {
      heard.length = 0
      tries.clear()
      behaving.clear()
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const TIMES = { lookMs: 10, callMs: 200, baseMs: 10, capMs: 40, endMs: 60_000 }
const webhook = (name: string, url = receiver.url(`/${name}`)) => ({
  name,
  url,
  secrets: SECRETS,
  allowPrivate: true,
})

async function start(names: readonly string[], { db = store.pool as Database, times = {} } = {}) {
  const service = createAlertWebhooks({
    db,
    to: { webhooks: names.map((name) => webhook(name)), runbooks: 'https://books.example' },
    times: { ...TIMES, ...times },
    metrics,
    logger: logger(),
  })
  running.add(service)
  await announceAlertWebhooks(store.pool, names)
  await service.start()
  return service
}

const raise = (key = 'k', severity: AlertSeverity = 'page') =>
  raiseAlert(store.pool, {
    key,
    kind: 'latency.pair',
    severity,
    reason: 'BURNING',
    subject: { fromAgent: 'a', toAgent: 'b' },
  })
const heard = (path: string, count: number) =>
  eventually(async () => receiver.at(path).length >= count, {
    deadlineMs: 10_000,
    describe: `${path} heard ${count}`,
  })
const typesAt = (path: string) => receiver.at(path).map(({ type }) => type)
const waiting = async () =>
  (
    await store.rows<{ count: number }>(
      'select count(*)::int as count from alert_delivery where delivered_at is null and dead_at is null',
    )
  )[0]?.count
const settled = () =>
  eventually(async () => (await waiting()) === 0, { deadlineMs: 10_000, describe: 'nothing waits' })

it('tells every change in order, signed as the page says, with no word that somebody wrote', async () => {
  await start(['pager'])
  const alertId = await raise()
  await acknowledgeAlert(store.pool, alertId, 'ann')
  await closeAlertById(store.pool, { alertId, actor: 'ann', why: 'CANARY in the mine' })
  await heard('/pager', 3)
  await settled()
  expect(typesAt('/pager')).toEqual(['alert.opened', 'alert.acknowledged', 'alert.closed'])
  const [, , closed] = receiver.at('/pager')
  expect(closed?.data).toMatchObject({
    actor: 'ann',
    runbook: 'https://books.example/pair-slow.md',
  })
  expect(JSON.stringify(receiver.at('/pager'))).not.toContain('CANARY')
  // The example of the page has the same members.
  const [, example = '{}'] = /```json\n(\{\n {2}"type".*?)```/s.exec(PAGE) ?? []
  const shown = JSON.parse(example) as Message
  const [opened] = receiver.at('/pager')
  expect(Object.keys(opened ?? {}).toSorted()).toEqual([...Object.keys(shown), 'id'].toSorted())
  expect(Object.keys(opened?.data ?? {}).toSorted()).toEqual(Object.keys(shown.data).toSorted())
  expect(Object.keys(opened?.data.alert ?? {}).toSorted()).toEqual(
    Object.keys(shown.data.alert ?? {}).toSorted(),
  )
})

it('is told again under the same id until it is there, whatever goes wrong; another webhook does not wait', async () => {
  const wrongs = ['cut', 'cut', 500, 'hang', 302, 404, 429] as const
  receiver.on('/pager', (turn) => wrongs[turn - 1] ?? 204)
  await start(['pager', 'chat'])
  const alertId = await raise()
  await acknowledgeAlert(store.pool, alertId, 'ann')
  await heard('/chat', 2)
  expect(typesAt('/chat')).toEqual(['alert.opened', 'alert.acknowledged'])
  await heard('/pager', wrongs.length + 2)
  await settled()
  const types = typesAt('/pager')
  expect(types.slice(0, -1)).toEqual(Array(wrongs.length + 1).fill('alert.opened'))
  expect(types.at(-1)).toBe('alert.acknowledged')
  expect(new Set(receiver.at('/pager').map(({ id }) => id)).size).toBe(2)
  expect(receiver.at('/elsewhere')).toEqual([])
  for (const code of ['HTTP_500', 'BATON_ENDPOINT_TIMEOUT', 'HTTP_302', 'HTTP_404'])
    expect(lines.join('')).toContain(code)
  const { body } = await metrics.expose()
  expect(body).toMatch(/baton_alert_deliveries_total\{outcome="failed"\} [1-9]/)
})

it('that was down is told what it missed, once it is back', async () => {
  const free = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => free.once('listening', resolve))
  const { port } = free.address() as AddressInfo
  await new Promise((resolve) => free.close(resolve))
  const down = createAlertWebhooks({
    db: store.pool,
    to: { webhooks: [webhook('pager', `http://127.0.0.1:${port}/`)], runbooks: 'x' },
    times: TIMES,
    metrics,
    logger: logger(),
  })
  running.add(down)
  await announceAlertWebhooks(store.pool, ['pager'])
  await down.start()
  await raise()
  await eventually(async () => lines.join('').includes('BATON_ENDPOINT_UNAVAILABLE'), {
    deadlineMs: 10_000,
    describe: 'tried in vain',
  })
  await down.stop()
  await start(['pager'])
  await heard('/pager', 1)
  await settled()
  expect(typesAt('/pager')).toEqual(['alert.opened'])
})

it('is told twice under one id where whoever told it died before it knew', async () => {
  const dying: Database = {
    query: (statement) =>
      'name' in statement && statement.name === 'close_alert_delivery'
        ? Promise.reject(new Error('died'))
        : store.pool.query(statement),
  }
  const first = await start(['pager'], { db: dying })
  await raise()
  await heard('/pager', 1)
  await first.stop()
  expect(await waiting()).toBe(1)
  await start(['pager'])
  await store.rows('update alert_delivery set lease_until = clock_timestamp()')
  await heard('/pager', 2)
  await settled()
  const [one, two] = receiver.at('/pager')
  expect(two?.id).toBe(one?.id)
  expect(receiver.at('/pager')).toHaveLength(2)
})

it('is given up after its time, with the code in the log; what came later goes on', async () => {
  receiver.on('/pager', (turn) => (turn <= 2 ? 500 : 204))
  await start(['pager'], { times: { endMs: 1, baseMs: 10, lookMs: 10 } })
  const alertId = await raise()
  await eventually(async () => lines.join('').includes('alert.given_up'), {
    deadlineMs: 10_000,
    describe: 'given up',
  })
  receiver.on('/pager', () => 204)
  await acknowledgeAlert(store.pool, alertId, 'ann')
  await eventually(() => typesAt('/pager').at(-1) === 'alert.acknowledged', {
    deadlineMs: 10_000,
    describe: 'the next change is told',
  })
  expect(lines.filter((line) => line.includes('alert.given_up')).join('')).toContain('HTTP_500')
})

it('is told by one of two processes, once each', async () => {
  await Promise.all([start(['pager']), start(['pager'])])
  const keys = Array.from({ length: 30 }, (_, index) => `k${index}`)
  await Promise.all(keys.map((key) => raise(key)))
  await heard('/pager', 30)
  await settled()
  expect(new Set(receiver.at('/pager').map(({ id }) => id)).size).toBe(30)
  expect(receiver.at('/pager')).toHaveLength(30)
})

it('is told nothing of what happened before it was named', async () => {
  await raise('before')
  await start(['pager'])
  await raise('after')
  await heard('/pager', 1)
  await settled()
  expect(receiver.at('/pager')).toHaveLength(1)
  expect(await store.rows('select from alert_change where planned_at is null')).toEqual([])
})

it('is told of what happens while nobody had delivered for an hour, by whoever knows of it first', async () => {
  await announceAlertWebhooks(store.pool, ['pager', 'gone'])
  await store.rows(
    `update alert_webhook set since = since - interval '2 hours', seen_at = seen_at - interval '1 hour'`,
  )
  await raise()
  await planAlertDeliveries(store.pool, ['pager'])
  expect(await store.rows('select webhook from alert_delivery')).toEqual([{ webhook: 'pager' }])
})

it('hears of what wakes somebody before what waits for a working day, however much of that there is', async () => {
  await announceAlertWebhooks(store.pool, ['pager'])
  for (let index = 0; index < 8; index += 1) await raise(`ticket ${index}`, 'ticket')
  await raise('page', 'page')
  await planAlertDeliveries(store.pool, ['pager'])
  const [first] = await claimAlertDeliveries(store.pool, {
    webhook: 'pager',
    limit: 1,
    leaseMs: 1_000,
  })
  expect(first?.alert?.severity).toBe('page')
})

it('hears of receipts that the log does not hold, which is tampering, and not of those that wait', async () => {
  await store.rows('truncate execution')
  await store.rows(
    `insert into execution (handoff_id, fencing_token, status, owner, lease_until, audit_hash)
      select gen_random_uuid(), 1, 'DONE', gen_random_uuid(), now(), '\\xabab' from generate_series(1, 2)`,
  )
  const heardOf = async (state: 'waiting' | 'missing') => {
    const rounds = createReceiptReconciler({
      pool: store.pool,
      client: { checkReceipts: async (held) => held.map(() => state) },
      everyMs: 10,
      metrics,
      logger: logger(),
    })
    running.add(rounds)
    await rounds.start()
    await eventually(() => lines.join('').includes(`["${state}","${state}"]`), {
      deadlineMs: 10_000,
      describe: `receipts are ${state}`,
    })
    await rounds.stop()
    return listAlerts(store.pool, { limit: 2 })
  }
  expect(await heardOf('waiting')).toEqual([])
  expect(await heardOf('missing')).toEqual([
    expect.objectContaining({ kind: 'log.receipts_unmatched', severity: 'page' }),
  ])
})

it('a test says of each webhook whether it answers', async () => {
  receiver.on('/chat', () => 500)
  await start(['pager', 'chat'])
  const testId = await testAlertWebhooks(store.pool, 'ann')
  const states = async () =>
    (await findAlertWebhookTest(store.pool, testId))?.webhooks.map(
      ({ webhook: name, state, lastError }) => [name, state, lastError],
    )
  await eventually(
    async () =>
      JSON.stringify(await states()) ===
      JSON.stringify([
        ['chat', 'failed', 'HTTP_500'],
        ['pager', 'delivered', null],
      ]),
    { deadlineMs: 10_000, describe: 'both were tried' },
  )
  expect(receiver.at('/pager')[0]).toMatchObject({
    type: 'alert.test',
    id: testId,
    data: { alert: null, actor: 'ann', runbook: null },
  })
})
