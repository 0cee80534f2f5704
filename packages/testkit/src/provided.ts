// What a test file calls to get its servers: the ones the vitest run provides.
import { describe, inject, it } from 'vitest'
import type { Unavailable } from '@baton/embedded'
import type {} from './global-setup.ts'
import type { TestPostgres, TestRedis } from './test-servers.ts'

/** The Postgres of this vitest run. Make databases on it with `uniqueDatabaseName`. */
export async function acquirePostgres(): Promise<TestPostgres> {
  return inject('batonPostgres')
}

/** The Redis of this vitest run, or why there is none. Keep tests apart by key prefix. */
export async function acquireRedis(): Promise<TestRedis | Unavailable> {
  return inject('batonRedis')
}

/**
 * A group of tests that needs a service, for example
 * `describeWith('transport on Redis', await acquireRedis(), (redis) => { ... })`.
 * Without the service the group is skipped and says why; when CI is set it fails instead.
 */
export function describeWith<Service extends object>(
  name: string,
  service: Service | Unavailable,
  group: (service: Service) => void,
): void {
  if (!('unavailable' in service)) describe(name, () => group(service))
  else if (process.env['CI']) {
    describe(name, () => {
      it('has the service it needs', () => {
        throw new Error(`cannot run: ${service.unavailable}`)
      })
    })
  } else describe.skip(`${name} (cannot run: ${service.unavailable})`, () => group({} as Service))
}
