// A Baton in which everything is there twice: both databases with a standby, and two of every process, each of which can be of another version.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@baton/embedded'
import { createApiKey } from '@baton/gateway'
import { createSystem, openLink, startOwnRedis, startPostgresPair } from '@baton/testkit'
import type { PostgresPair, ServiceName, ServiceProcess, System } from '@baton/testkit'
import type { Checkout } from './topology-versions.ts'

/** In the order in which they are started, and changed to another version. */
const PROCESSES = [
  'auditor',
  'auditor',
  'witness',
  'sealer',
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
  /** Lets a process drain and end; whoever asks it is led to the other one, where nothing else does that. */
  stop(one: Running): Promise<void>
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
    // Versions before this one know of one server only.
    adminUrl: (checkout ? store.primary : store).superuserUrl,
    auditAdminUrl: (checkout ? audit.primary : audit).superuserUrl,
    redisUrl: redis.url,
    agents: './test/fault/ledger-agents.ts',
    ledgerFolder: join(folder, 'log'),
    env: {
      BATON_TEST_LEDGER: ledger,
      BATON_API_KEYS: key.entry,
    },
    ...(checkout && { migrate: (databases) => checkout.migrate({ store, audit }, databases) }),
  })
  const auditorUrls = [system.auditorUrl, localUrl(secondAuditor)] as const
  // Nor do they know of several auditors: something between them and those has to.
  const link = checkout && (await openLink(auditorUrls[0]))
  const auditors = link?.url ?? auditorUrls.join()
  const running = await startProcesses(system, {
    root: checkout?.root,
    auditors,
    ports: { auditor: secondAuditor, gateway: [firstGateway, secondGateway] },
  })
  return {
    store,
    audit,
    system,
    running,
    gatewayUrls: [firstGateway, secondGateway].map(localUrl),
    apiKey: key.key,
    ledger,
    async stop(one) {
      const at = running.filter(({ name }) => name === 'auditor').indexOf(one)
      if (at !== -1) link?.moveTo(auditorUrls[at === 0 ? 1 : 0])
      await one.process.stop()
    },
    async startAgain(one, by) {
      one.process = await system.start(one.name, one.env, by?.root)
    },
    async end() {
      await system.stop()
      await link?.close()
      await Promise.allSettled([store.stop(), audit.stop(), redis.stop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const localUrl = (port: number): string => `http://127.0.0.1:${port}`

interface Places {
  readonly root: string | undefined
  /** Where callers find an auditor. */
  readonly auditors: string
  /** Of the second auditor, and of both gateways. */
  readonly ports: { readonly auditor: number; readonly gateway: readonly number[] }
}

async function startProcesses(
  system: System,
  { root, auditors, ports }: Places,
): Promise<readonly Running[]> {
  const running: Running[] = []
  for (const name of PROCESSES) {
    const before = running.filter((one) => one.name === name).length
    // Versions before this one know of no sealer that stands by.
    if (name === 'sealer' && before === 1 && root !== undefined) continue
    const env: Record<string, string> = { BATON_AUDIT_URL: auditors }
    if (name === 'auditor' && before === 1) env['BATON_AUDITOR_PORT'] = String(ports.auditor)
    if (name === 'gateway') env['BATON_GATEWAY_PORT'] = String(ports.gateway[before])
    if (name === 'sealer' && root === undefined) {
      env['BATON_SEALER_STANDBY'] = '1'
      const { BATON_SEALER_STATE_FILE: file } = system.environmentOf('sealer')
      env['BATON_SEALER_STATE_FILE'] = `${file}-${before}`
    }
    running.push({ name, env, process: await system.start(name, env, root) })
  }
  return running
}
