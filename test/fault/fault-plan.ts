// A seeded plan of what goes wrong with calls to Postgres, to the queue and to the auditor: each call may fail, or only seem to.
import type { AuditClient } from '@baton/audit/client'
import { transient } from '@baton/runtime'
import type { Pool } from '@baton/store'
import { randomFrom } from '@baton/testkit'
import type { Transport } from '@baton/transport'

const KINDS = ['Timeout', 'ExecuteAndTimeout', 'Unavailable'] as const
type Kind = (typeof KINDS)[number]

export interface FaultPlan {
  /** Whether faults happen now. */
  active: boolean
  /** How often each kind of call met each kind of fault, and how many calls there were. */
  readonly counts: Map<string, number>
  /** Does `work`, or fails instead, or does it and fails all the same. */
  call<Result>(what: string, work: () => Promise<Result>, fail?: () => Error): Promise<Result>
  /** Fails or does nothing: for what has no effect of its own. */
  before(what: string): void
}

/** `rate` is the share of calls that meet a fault, each kind equally often. */
export function createFaultPlan(seed: number, rate: number): FaultPlan {
  const random = randomFrom(seed)
  const counts = new Map<string, number>()
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  const plan: FaultPlan = {
    active: false,
    counts,
    async call(what, work, fail) {
      if (!plan.active) return work()
      count('calls')
      if (random.next() >= rate) return work()
      const kind = random.pick(KINDS)
      count(`${what} ${kind}`)
      if (kind === 'ExecuteAndTimeout') await work()
      throw fail?.() ?? failureOf(kind)
    },
    before(what) {
      if (!plan.active) return
      count('calls')
      if (random.next() >= rate) return
      const kind = random.pick(['Timeout', 'Unavailable'] as const)
      count(`${what} ${kind}`)
      throw failureOf(kind)
    },
  }
  return plan
}

// What the drivers say: a read time-out has no code, a refused connection has one.
const failureOf = (kind: Kind): Error =>
  kind === 'Unavailable'
    ? Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    : new Error('Query read timeout')

const queueFailure = () => transient('BATON_QUEUE_UNAVAILABLE', 'the queue did not answer')
const auditFailure = () => transient('BATON_AUDIT_UNAVAILABLE', 'the auditor did not answer')

/** Every statement of the pool and of the connections it gives, also `begin`, `commit` and `rollback`. */
export function faultyPool(pool: Pool, plan: FaultPlan): Pool {
  return {
    query: (statement) => plan.call('statement', () => pool.query(statement)),
    async connect() {
      plan.before('connect')
      const client = await pool.connect()
      return new Proxy(client, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key, target)
          if (typeof value !== 'function') return value
          if (key !== 'query') return value.bind(target) as unknown
          return (...args: unknown[]) =>
            plan.call('statement', () => value.apply(target, args) as Promise<unknown>)
        },
      })
    },
    end: () => pool.end(),
  }
}

/** Publishing, asking and marking; and jobs that arrive twice, late or not at all. */
export function faultyTransport(transport: Transport, plan: FaultPlan): Transport {
  const { watermarks } = transport
  const call = <Result>(what: string, work: () => Promise<Result>): Promise<Result> =>
    plan.call(what, work, queueFailure)
  return {
    kind: transport.kind,
    publish: (jobs) => call('publish', () => transport.publish(jobs)),
    missing: (jobs) => call('missing', () => transport.missing(jobs)),
    waiting: (queue) => call('waiting', () => transport.waiting(queue)),
    watermarks:
      watermarks === null
        ? null
        : {
            write: (next) => call('write watermarks', () => watermarks.write(next)),
            read: (known) => call('read watermarks', () => watermarks.read(known)),
          },
    consume: (options) =>
      transport.consume({
        ...options,
        handle: (pointer) => plan.call('job', () => options.handle(pointer)),
      }),
    close: () => transport.close(),
  }
}

export function faultyAudit(client: AuditClient, plan: FaultPlan): AuditClient {
  return {
    append: (entries) => plan.call('append', () => client.append(entries), auditFailure),
    checkReceipts: (receipts) => plan.call('check receipts', () => client.checkReceipts(receipts)),
    get blocked() {
      return client.blocked
    },
    unblock: () => client.unblock(),
    onBlocked: (listener) => client.onBlocked(listener),
    close: () => client.close(),
  }
}
