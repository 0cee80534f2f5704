// Says no early: to too many requests at once, and to a tenant that takes more than its share of them, of a minute or of bytes (I12).
import { ProblemError } from '@baton/http/server'

/** What one tenant may have where several share a gateway. */
export interface TenantShares {
  /** Requests in a minute. */
  readonly rateMax: number
  /** Of what is under way at once. */
  readonly runningMax: number
  /** Bytes of bodies in a second, and in one moment after a quiet second. */
  readonly bytesPerSecondMax: number
}

/** The same, by how many tenants. */
export interface Shared extends TenantShares {
  readonly tenants: number
}

interface RunningBounds {
  readonly runningMax: number
  /** For whom the caller acts. */
  readonly tenant: () => string
  /** Undefined while all callers are one tenant's: then nothing is shared. */
  readonly shared: () => Pick<Shared, 'tenants' | 'runningMax'> | undefined
}

/**
 * Runs `work` unless `runningMax` are under way already: then throws 503 BATON_OVERLOADED. A tenant has at most its own
 * maximum; and however many others have, it has its equal part, so at most twice `runningMax` are under way.
 */
export function createRunningBound({ runningMax, tenant, shared }: RunningBounds) {
  const byTenant = new Map<string, number>()
  let running = 0
  const requireRoom = (own: number): void => {
    const { tenants, runningMax: share } = shared() ?? { tenants: 1, runningMax }
    const equalPart = Math.max(1, Math.floor(runningMax / tenants))
    const ownMax = Math.max(equalPart, share)
    if (own >= ownMax && ownMax < runningMax) throw tenantBusy(ownMax)
    if (running >= runningMax && (tenants === 1 || own >= equalPart)) throw OVERLOADED
  }
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const whose = tenant()
    const own = byTenant.get(whose) ?? 0
    requireRoom(own)
    running += 1
    byTenant.set(whose, own + 1)
    try {
      return await work()
    } finally {
      running -= 1
      const left = (byTenant.get(whose) ?? 1) - 1
      if (left === 0) byTenant.delete(whose)
      else byTenant.set(whose, left)
    }
  }
}

/** Who shares a gateway: the tenants of its settings, and whoever has called. */
export function createShares(shares: TenantShares, known: Iterable<string>) {
  const tenants = new Set(known)
  const meter = createMeter(shares)
  return {
    shared: (): Shared | undefined =>
      tenants.size > 1 ? { ...shares, tenants: tenants.size } : undefined,
    /** Counts from when a second tenant calls. */
    meter: (tenant: string, bytes: number): void => {
      tenants.add(tenant)
      if (tenants.size > 1) meter(tenant, bytes)
    },
  }
}

/** Throws 429 where a tenant has had its share of requests or of bytes; what it takes is counted. */
export type Meter = (tenant: string, bytes: number) => void

const MINUTE_MS = 60_000
const SECOND_MS = 1_000

interface Metered {
  minute: number
  requests: number
  /** Bytes that were taken beyond what has been given since. */
  bytes: number
  at: number
}

/** A body counts whole before it is read; one that is larger than a second's share is taken after a quiet second, and paid off after. */
export function createMeter(
  { rateMax, bytesPerSecondMax }: Pick<TenantShares, 'rateMax' | 'bytesPerSecondMax'>,
  now: () => number = () => performance.now(),
): Meter {
  const known = new Map<string, Metered>()
  return (tenant, bytes) => {
    const at = now()
    const minute = Math.floor(at / MINUTE_MS)
    const one = known.get(tenant) ?? { minute, requests: 0, bytes: 0, at }
    known.set(tenant, one)
    if (one.minute !== minute) Object.assign(one, { minute, requests: 0 })
    one.requests += 1
    if (one.requests > rateMax) throw tenantLimited(MINUTE_MS - (at % MINUTE_MS))
    const given = ((at - one.at) / SECOND_MS) * bytesPerSecondMax
    one.bytes = Math.max(0, one.bytes - given)
    one.at = at
    if (bytes > 0 && one.bytes > 0 && one.bytes + bytes > bytesPerSecondMax)
      throw tenantBytes(((one.bytes + bytes - bytesPerSecondMax) / bytesPerSecondMax) * SECOND_MS)
    one.bytes += bytes
  }
}

const retryAfter = (ms: number) => ({
  'retry-after': String(Math.max(1, Math.ceil(ms / SECOND_MS))),
})

const OVERLOADED = new ProblemError({
  status: 503,
  code: 'BATON_OVERLOADED',
  detail: 'the gateway has as many requests under way as it takes',
  fix: 'Try again after the time in Retry-After, and spread requests over time.',
  headers: { 'retry-after': '1' },
})

const tenantBusy = (max: number) =>
  new ProblemError({
    status: 503,
    code: 'BATON_TENANT_OVERLOADED',
    detail: `your tenant has ${max} requests under way, which is its share of this gateway`,
    fix: 'Try again after the time in Retry-After, and spread requests over time. BATON_GATEWAY_TENANT_RUNNING_MAX is the share.',
    headers: { 'retry-after': '1' },
  })

const tenantLimited = (ttlMs: number) =>
  new ProblemError({
    status: 429,
    code: 'BATON_TENANT_RATE_LIMITED',
    detail: 'more requests than all keys of your tenant together may send in a minute',
    fix: 'Send again after the time in Retry-After, and spread requests over time. BATON_GATEWAY_TENANT_RATE_MAX is the bound.',
    headers: retryAfter(ttlMs),
  })

const tenantBytes = (ttlMs: number) =>
  new ProblemError({
    status: 429,
    code: 'BATON_TENANT_BYTES_LIMITED',
    detail: 'more bytes than all keys of your tenant together may send in a second',
    fix: 'Send again after the time in Retry-After. BATON_GATEWAY_TENANT_BYTES_MAX is the bound.',
    headers: retryAfter(ttlMs),
  })
