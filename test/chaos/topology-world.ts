// A Baton in which everything is there twice: both databases with a standby, and two of every process, each of which can be of another version.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@baton/embedded'
import { createApiKey } from '@baton/gateway'
import { createSystem, startOwnRedis, startPostgresPair } from '@baton/testkit'
import type { PostgresPair, ServiceName, ServiceProcess, System } from '@baton/testkit'
import type { Checkout } from './topology-versions.ts'

/** In the order in which they are started, and changed to another version. */
const PROCESSES = [
  'auditor',
  'auditor',
  'witness',
  'sealer',
  'archiver',
  'relay',
  'relay',
  'receiver',
  'receiver',
  'gateway',
  'gateway',
] as const satisfies readonly ServiceName[]

export interface Running {
  readonly name: ServiceName
  readonly env: Readonly<Record<string, string>>
  process: ServiceProcess
}

export interface TopologyWorld {
  readonly store: PostgresPair
  readonly audit: PostgresPair
  readonly system: System
  readonly running: readonly Running[]
  readonly gatewayUrls: readonly string[]
  readonly apiKey: string
  /** Where the agents write down each execution. */
  readonly ledger: string
  /** Starts a process that has ended, by the code of a checkout; of this one by default. */
  startAgain(one: Running, checkout?: Checkout): Promise<void>
  end(): Promise<void>
}

/** Starts everything by the code of `checkout`, this one by default. */
export async function startTopology(checkout?: Checkout): Promise<TopologyWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-topology-'))
  const redis = await startOwnRedis()
  if ('unavailable' in redis) throw new Error(`no Redis: ${redis.unavailable}`)
  const [store, audit] = await Promise.all([startPostgresPair(), startPostgresPair()])
  const ports = await Promise.all(Array.from({ length: 3 }, freePort))
  const [secondAuditor = 0, firstGateway = 0, secondGateway = 0] = ports
  const ledger = join(folder, 'effects.jsonl')
  const key = createApiKey({ operator: 'driver', scopes: 'handoffs:send+handoffs:read' })
  const system = await createSystem({
    purpose: 'topology',
    adminUrl: store.superuserUrl,
    auditAdminUrl: audit.superuserUrl,
    redisUrl: redis.url,
    agents: './test/fault/ledger-agents.ts',
    ledgerFolder: join(folder, 'log'),
    env: {
      BATON_TEST_LEDGER: ledger,
      BATON_API_KEYS: key.entry,
    },
    ...(checkout && { migrate: (databases) => checkout.migrate({ store, audit }, databases) }),
  })
  const auditors = [system.auditorUrl, localUrl(secondAuditor)].join()
  const counts = new Map<string, number>()
  const running: Running[] = []
  for (const name of PROCESSES) {
    const number = counts.get(name) ?? 0
    counts.set(name, number + 1)
    const env: Record<string, string> = { BATON_AUDIT_URL: auditors }
    if (name === 'auditor' && number === 1) env['BATON_AUDITOR_PORT'] = String(secondAuditor)
    if (name === 'gateway')
      env['BATON_GATEWAY_PORT'] = String(number === 0 ? firstGateway : secondGateway)
    running.push({ name, env, process: await system.start(name, env, checkout?.root) })
  }
  return {
    store,
    audit,
    system,
    running,
    gatewayUrls: [firstGateway, secondGateway].map(localUrl),
    apiKey: key.key,
    ledger,
    async startAgain(one, by) {
      one.process = await system.start(one.name, one.env, by?.root)
    },
    async end() {
      await system.stop()
      await Promise.allSettled([store.stop(), audit.stop(), redis.stop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const localUrl = (port: number): string => `http://127.0.0.1:${port}`
