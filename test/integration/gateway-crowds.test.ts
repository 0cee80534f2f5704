// Whoever opens connections and keeps them open locks nobody out of the gateway: neither callers nor probes.
import { eventually, fetchAfresh, openCrowd } from '@baton/testkit'
import type { Crowd } from '@baton/testkit'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { keys, openGateway } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const CONNECTIONS_MAX = 40
const authorization = `Bearer ${keys.operator.key}`

let fixture: GatewayFixture
let crowd: Crowd | undefined

beforeAll(async () => {
  fixture = await openGateway()
})
afterEach(() => crowd?.close())
afterAll(() => fixture.close())

const CROWDS = [
  { name: 'that asked once', bytes: 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n', until: 'data' },
  {
    name: 'whose headers never end',
    bytes: 'GET /healthz HTTP/1.1\r\nhost: a\r\nx-slow: ',
    until: 'connect',
  },
  {
    name: 'whose bodies never come',
    bytes:
      'POST /nowhere HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n',
    until: 'connect',
  },
  { name: 'that says nothing', bytes: '', until: 'connect' },
] as const

it.each([
  ...CROWDS.map((one) => ({ ...one, bound: 'in all', perAddressMax: 1_000 })),
  ...CROWDS.map((one) => ({ ...one, bound: 'of one address', perAddressMax: 20 })),
])('a crowd $name, at the bound $bound', async ({ bytes, until, perAddressMax }) => {
  const gateway = fixture.another({
    connectionsMax: CONNECTIONS_MAX,
    connectionsPerAddressMax: perAddressMax,
  })
  await gateway.start()
  const { url } = gateway
  const newest = await openCrowd(url, { count: CONNECTIONS_MAX + 20, bytes, until })
  crowd = newest
  for (let time = 0; time < 10; time += 1) {
    expect(await fetchAfresh(`${url}/v2/tasks`, { authorization })).toBe(200)
    expect(await fetchAfresh(`${url}/healthz`)).toBe(200)
  }
  await eventually(() => newest.open <= Math.min(CONNECTIONS_MAX, perAddressMax), {
    deadlineMs: 5_000,
    describe: () => `the bound to hold; ${newest.open} are open`,
  })
})
