// Where several tenants share a gateway, each has its part of requests and bytes, whichever of its keys asks; one alone has all.
import { createApiKey } from '@baton/gateway'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectProblem, get, keys, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const SCOPES = 'handoffs:send+handoffs:read'
const acme = createApiKey({ scopes: SCOPES, operator: 'ann', tenant: 'acme' })
const second = createApiKey({ scopes: SCOPES, operator: 'bob', tenant: 'acme' })
const globex = createApiKey({ scopes: SCOPES, operator: 'ann', tenant: 'globex' })

const WIDE = { rateMax: 1_000, runningMax: 64, bytesPerSecondMax: 1_000_000 }

let shared: GatewayFixture
let alone: GatewayFixture
beforeAll(async () => {
  shared = await openGateway({ acme, second, globex })
  alone = await openGateway()
})
afterAll(async () => {
  await shared?.close()
  await alone?.close()
})

const of = ({ key }: { readonly key: string }) => ({ authorization: `Bearer ${key}` })

it('all keys of one tenant together have its requests of a minute, and leave the others theirs', async () => {
  const gateway = shared.another({ tenants: { ...WIDE, rateMax: 2 } })
  const ask = (key: { readonly key: string }) => get(gateway, '/v2/tasks', of(key))
  expect([(await ask(acme)).statusCode, (await ask(second)).statusCode]).toEqual([200, 200])
  const askedAt = performance.now()
  const refused = await ask(acme)
  expect(refused.statusCode).toBe(429)
  // Who asks again at once is held up by that, and takes no processor from the others.
  expect(performance.now() - askedAt).toBeGreaterThan(240)
  expect(refused.json()).toMatchObject({ code: 'BATON_TENANT_RATE_LIMITED' })
  expectProblem(refused)
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await ask(globex)).statusCode).toBe(200)
})

it('a body beyond a tenant’s bytes of a second is refused before it is read', async () => {
  const gateway = shared.another({ tenants: { ...WIDE, bytesPerSecondMax: 1 } })
  const send = (key: string) => post(gateway, stateBody(), { key })
  expect((await send(acme.key)).statusCode).not.toBe(429)
  expect((await send(second.key)).json()).toMatchObject({ code: 'BATON_TENANT_BYTES_LIMITED' })
  expect((await send(globex.key)).statusCode).not.toBe(429)
  expect((await get(gateway, '/v2/tasks', of(acme))).statusCode).toBe(200)
})

it('a body that is longer than any may be is called so, and takes nothing of the tenant’s other keys', async () => {
  const gateway = shared.another({ tenants: { ...WIDE, bytesPerSecondMax: 2_000_000 } })
  const tooLong = await get(gateway, '/v2/tasks', { ...of(acme), 'content-length': '99999999999' })
  expect(tooLong.statusCode).not.toBe(429)
  expect((await post(gateway, stateBody(), { key: second.key })).statusCode).not.toBe(429)
})

it('of one tenant alone nothing is counted', async () => {
  const gateway = alone.another({ tenants: { ...WIDE, rateMax: 1, bytesPerSecondMax: 1 } })
  const answers = [
    await post(gateway, stateBody()),
    await post(gateway, stateBody()),
    await get(gateway, '/v2/tasks', of(keys.reader)),
  ]
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 200])
})
