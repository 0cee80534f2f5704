// Says no early: to too many requests at once, and to a tenant that takes more than its share of them, of a minute or of bytes (I12).
import { setTimeout } from 'node:timers/promises'
import { ProblemError } from '@baton/http/server'

/** What one tenant may have where several share a gateway. */
export interface TenantShares {
  /** Requests in a minute, and at once a twelfth of them (five seconds' worth) or a hundred, whichever is more. */
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

/** Small rates are for people, who ask for a few things at once; large ones for programs, which leave the others room. */
const burstOf = (rateMax: number): number => Math.max(Math.min(rateMax, 100), rateMax / 12)

interface Metered {
  /** Requests that were taken beyond what has been given since. */
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
    const one = known.get(tenant) ?? { requests: 0, bytes: 0, at }
    known.set(tenant, one)
    one.requests = Math.max(0, one.requests - ((at - one.at) / MINUTE_MS) * rateMax)
    const given = ((at - one.at) / SECOND_MS) * bytesPerSecondMax
    one.bytes = Math.max(0, one.bytes - given)
    one.at = at
    const over = one.requests + 1 - burstOf(rateMax)
    if (over > 0) throw tenantLimited((over / rateMax) * MINUTE_MS)
    one.requests += 1
    if (bytes > 0 && one.bytes > 0 && one.bytes + bytes > bytesPerSecondMax)
      throw tenantBytes(((one.bytes + bytes - bytesPerSecondMax) / bytesPerSecondMax) * SECOND_MS)
    one.bytes += bytes
  }
}

/** A client that asks again at once has so many refusals of each of its connections in a second, and no more. */
const LATE_MS = 250
/** What waits costs a connection that is bounded by itself; beyond this many, refusals come at once. */
const LATE_MAX = 256

/**
 * Holds back what says when to come again, where several tenants share the gateway: who does not keep to it would otherwise
 * take the processor from the others by being refused.
 */
export function createLateRefusals({
  shared,
  wait = setTimeout,
}: {
  readonly shared: () => Shared | undefined
  readonly wait?: (ms: number) => Promise<unknown>
}) {
  let waiting = 0
  return async ({ headers }: Pick<ProblemError, 'headers'>): Promise<void> => {
    if (headers['retry-after'] === undefined || shared() === undefined || waiting >= LATE_MAX)
      return
    waiting += 1
    await wait(LATE_MS)
    waiting -= 1
  }
}

/** Resolves when a refusal may be answered. */
export type LateRefusals = ReturnType<typeof createLateRefusals>

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
    detail: 'more requests than all keys of your tenant together may send',
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
