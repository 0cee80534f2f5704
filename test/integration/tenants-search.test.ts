// Arbitrary calls of three tenants at one gateway: none sees, changes, is charged for or learns of anything of another.
// BATON_TEST_TENANT_CALLS=20000 asks more, BATON_TEST_SEED something else.
import { seededRandom } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { routesWithoutDraft } from './tenant-calls.ts'
import { searchTenants } from './tenant-search.ts'
import { openTenantWorld } from './tenant-world.ts'
import type { TenantWorld } from './tenant-world.ts'

const CALLS = Number(process.env['BATON_TEST_TENANT_CALLS'] ?? 400)

let world: TenantWorld
beforeAll(async () => {
  world = await openTenantWorld()
})
afterAll(() => world?.close())

it('every route that takes something is asked with something', () => {
  expect(routesWithoutDraft(world.gateway.routes)).toEqual([])
})

it(
  `${CALLS} calls show, change and tell nothing of another tenant`,
  async () => {
    const random = seededRandom('calls of tenants')
    const { calls, compared, accepted } = await searchTenants({ world, random, calls: CALLS })
    process.stderr.write(
      `testkit: calls of tenants: ${calls} calls, ${compared} of them twice, ${accepted.size} of ${world.gateway.routes.size} routes let them do something\n`,
    )
    expect(calls).toBeGreaterThanOrEqual(CALLS)
    expect(compared).toBeGreaterThan(CALLS / 20)
    expect(accepted.size).toBeGreaterThan(20)
  },
  60_000 + CALLS * 60,
)
