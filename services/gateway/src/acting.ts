// Who acts in a request, and for which tenant: whatever the request asks of Postgres is asked for that one.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Author, Reader } from '@baton/engine'
import { DEFAULT_TENANT } from '@baton/ledger'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Access } from './api-keys.ts'

/** The key of a request. Behind requireScope only. */
export function keyOf({ identified }: FastifyRequest): Access {
  if (!identified.ok) throw new TypeError('only an identified caller acts')
  return identified.key
}

/** The person behind the key; several keys of one operator are one person. */
export const operatorOf = (request: FastifyRequest): string => keyOf(request).operator

/** Who is shown what a request asks for. */
export function readerOf(request: FastifyRequest): Reader {
  const { operator, tenant, id } = keyOf(request)
  return { operator, tenant, keyId: id, address: request.ip }
}

/** Who answers for what a request sends. */
export function authorOf(request: FastifyRequest): Author {
  const { operator: sentBy, tenant } = keyOf(request)
  return { sentBy, tenant }
}

/** Whose the ids of other protocols are: each tenant has its own, and the default one those without a name. */
export const idOwner = ({ tenant }: Pick<Access, 'tenant'>): string | undefined =>
  tenant === DEFAULT_TENANT ? undefined : tenant

const acting = new AsyncLocalStorage<string>()

/** Runs `work`, and all that it begins, for a tenant. */
export const actFor = <Result>(tenant: string, work: () => Result): Result =>
  acting.run(tenant, work)

/** For whom is acted here; undefined where nobody acts. */
export const whoActs = (): string | undefined => acting.getStore()

/** For whom is acted here. Throws where nobody acts: then nothing may be asked. */
export function actingTenant(): string {
  const tenant = acting.getStore()
  if (tenant === undefined) throw new TypeError('only what an identified caller asks for is asked')
  return tenant
}

/** Every handler acts for the tenant of its caller. */
export function actForCallers(server: FastifyInstance): void {
  server.addHook('preHandler', ({ identified }, _, done) => {
    if (identified.ok) actFor(identified.key.tenant, done)
    else done()
  })
}
