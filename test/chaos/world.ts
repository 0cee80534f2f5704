// One seed's whole Baton: own databases, every service as supervised processes, a link between any two of them.
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { freePort } from '@baton/embedded'
import { parseSigningKeys } from '@baton/sdk'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSystem, eventually, openLink, randomFrom, spawnService } from '@baton/testkit'
import type { Link, OwnPostgres, OwnRedis, System } from '@baton/testkit'
import type { CampaignTls } from './campaign-tls.ts'
import { MODULES_INSIDE, spawnContainer } from './container.ts'
import { createChannels, createHttpChannel } from './channels.ts'
import type { Channels } from './channels.ts'
import { createLineChannel } from './line-channel.ts'
import { createPeople } from './people.ts'
import type { People } from './people.ts'
import { outsideSettings, startOutside } from './outside.ts'
import type { Outside } from './outside.ts'
import { openPeerServer } from './peer-server.ts'
import { startSlot } from './slot.ts'
import type { Slot, SlotProcess } from './slot.ts'

export interface Servers {
  readonly postgres: OwnPostgres
  readonly redis: OwnRedis
  /** Undefined where everything is plain text on this machine. */
  readonly tls?: CampaignTls | undefined
}

/** A lease of 2 s: recovery is then seen within a run of 40 s. */
export const LEASE_MS = 2_000
export const BACKOFF = { baseMs: 50, capMs: 400 }
export const SLOTS = {
  relay: ['relay-1', 'relay-2'],
  receiver: ['receiver-1', 'receiver-2', 'receiver-3'],
  auditor: ['auditor-1'],
  gateway: ['gateway-1'],
  sender: ['sender-1'],
} as const
type Service = keyof typeof SLOTS
/** Who speaks to whom; each has a link of its own. */
export const LINKS = [
  'relay-postgres',
  'relay-redis',
  'receiver-postgres',
  'receiver-redis',
  'receiver-auditor',
  'auditor-postgres',
  'gateway-postgres',
  'gateway-redis',
  'sender-postgres',
  'client-gateway',
  'client-sw4rm',
] as const
export type LinkName = (typeof LINKS)[number]

export interface World extends Servers {
  readonly system: System
  readonly slots: ReadonlyMap<string, Slot>
  readonly links: ReadonlyMap<LinkName, Link>
  readonly channels: Channels
  readonly people: People
  readonly outside: Outside
  /** Superuser connections to the operational database, past every link. */
  readonly admin: Pool
  readonly folder: string
  /** The key setting that processes started from now on are given. */
  signingKeys: string
  end(): Promise<void>
}

interface WorldOptions extends Servers {
  /** Where ledgers, histories and logs go. */
  readonly folder: string
  readonly knownBad?: string
  /** Every service runs in a container of this image; by default as a process of this checkout. */
  readonly image?: string | undefined
  readonly seed: number
}

const START_MAX_MS = 180_000

export async function startWorld(options: WorldOptions): Promise<World> {
  const { postgres, redis, tls, folder } = options
  mkdirSync(folder, { recursive: true })
  const system = await createSystem({
    purpose: 'chaos',
    adminUrl: postgres.superuserUrl,
    redisUrl: redis.url,
    agents: './test/chaos/effect-agents.ts',
    env: campaignSettings(folder),
  })
  const gatewayPort = await freePort()
  const swarmPort = await freePort()
  const links = await openLinks({ postgres, redis, system, gatewayPort, swarmPort })
  const server = await openPeerServer()
  const admin = createPool({
    url: system.adminUrls.store,
    applicationName: 'chaos',
    connectionsMax: 4,
  })
  const plainUrl = links.get('client-gateway')?.url ?? ''
  const gatewayUrl = tls === undefined ? plainUrl : tls.service(plainUrl)
  const people = createPeople({ url: gatewayUrl, admin })
  const { driver: operator } = people
  const told = outsideSettings({ folder, server, swarmPort, operator, leaseMs: LEASE_MS })
  const lines = createLineChannel()
  const world = { signingKeys: system.env['BATON_SIGNING_KEYS'] ?? '' }
  const slots = new Map<string, Slot>()
  for (const service of Object.keys(SLOTS) as Service[]) {
    for (const name of SLOTS[service]) slots.set(name, start(service, name))
  }

  function start(service: Service, name: string): Slot {
    return startSlot({
      name,
      service,
      folder,
      ...(service === 'sender' ? { readyLine: /"ops.listening"/ } : {}),
      async spawn(controlFile) {
        const env = {
          ...system.environmentOf(service === 'sender' ? 'relay' : service),
          ...urlsOf(service, { system, links, redis }),
          BATON_SIGNING_KEYS: world.signingKeys,
          BATON_API_KEYS: people.entries,
          BATON_GATEWAY_PORT: String(gatewayPort),
          ...(service === 'gateway' || service === 'receiver' ? told[service] : {}),
          BATON_CHAOS_CONTROL: controlFile,
          ...(options.knownBad === undefined ? {} : { BATON_CHAOS_KNOWN_BAD: options.knownBad }),
        }
        const process = await spawnProcess(options, {
          name,
          service,
          env: tls === undefined ? env : tls.secured(service, env),
          ...(service === 'sender' ? { input: true as const, onStdout: lines.heard } : {}),
        })
        if (service === 'sender') lines.attach(process.write)
        return process
      },
    })
  }

  const outside = startOutside({
    url: gatewayUrl,
    key: people.driverKey,
    folder,
    leaseMs: LEASE_MS,
    server,
    swarmAddress: new URL(links.get('client-sw4rm')?.url ?? '').host,
    authority: tls?.authority,
    random: randomFrom(options.seed),
  })
  const ownUrl = through(system.deliveryUrl, links.get('sender-postgres'))
  const channels = createChannels({
    databaseUrl: tls === undefined ? ownUrl : tls.database(ownUrl),
    keyRing: parseSigningKeys(world.signingKeys),
    http: createHttpChannel(gatewayUrl, people.driverKey),
    ndjson: lines,
    faces: outside.channels,
  })
  async function end(): Promise<void> {
    await outside.stop()
    await Promise.all([...slots.values()].map((slot) => slot.end()))
    await channels.close()
    await admin.end()
    await Promise.all([...links.values()].map((link) => link.close()))
  }

  try {
    await eventually(() => [...slots.values()].every((slot) => slot.ready()), {
      deadlineMs: START_MAX_MS,
      describe: () => `every service is ready; see the logs in ${folder}`,
    })
  } catch (error) {
    await end()
    throw error
  }
  const ways = { links, channels, people, outside }
  return Object.assign(world, { postgres, redis, tls, system, slots, ...ways, admin, folder, end })
}

/** What every service of a campaign is told. */
export const campaignSettings = (folder: string) => ({
  BATON_CHAOS_FOLDER: folder,
  BATON_LEASE_MS: String(LEASE_MS),
  BATON_PULL_LEASE_MS: String(LEASE_MS),
  BATON_UNDELIVERED_MS: '1500',
  BATON_RETRY_BASE_MS: String(BACKOFF.baseMs),
  BATON_RETRY_CAP_MS: String(BACKOFF.capMs),
  BATON_LOG_LEVEL: 'info',
  BATON_DRAIN_MS: '1500',
  BATON_CONCURRENCY: '16',
})

interface Spawned {
  readonly name: string
  readonly service: Service
  readonly env: Readonly<Record<string, string>>
  readonly input?: true
  readonly onStdout?: (text: string) => void
}

/** By the code of this checkout, or by that of the image. */
async function spawnProcess(
  { image, folder, knownBad }: WorldOptions,
  spawned: Spawned,
): Promise<SlotProcess> {
  const { service, env } = spawned
  const modules = [
    'process-preload.ts',
    ...(knownBad === undefined ? [] : ['known-bad-preload.ts']),
  ]
  const nodeOptions = modules
    .map((module) => `--import=${new URL(module, image ? MODULES_INSIDE : import.meta.url).href}`)
    .join(' ')
  if (image !== undefined) {
    // All are on the network of this machine.
    const opsPort = await freePort()
    const told = { ...env, BATON_OPS_PORT: String(opsPort) }
    return await spawnContainer({ ...spawned, image, folder, nodeOptions, env: told })
  }
  return await spawnService({
    ...spawned,
    main: `services/${service}/src/main.ts`,
    ready: false,
    env: { ...env, NODE_OPTIONS: nodeOptions },
  })
}

interface Ends extends Servers {
  readonly system: System
  readonly gatewayPort: number
  readonly swarmPort: number
}

async function openLinks({ postgres, redis, system, gatewayPort, swarmPort }: Ends) {
  const links = new Map<LinkName, Link>()
  for (const name of LINKS) {
    const target = name.split('-')[1] ?? ''
    const url = {
      postgres: postgres.superuserUrl,
      redis: redis.url,
      auditor: system.auditorUrl,
      gateway: `http://127.0.0.1:${gatewayPort}`,
      sw4rm: `http://127.0.0.1:${swarmPort}`,
    }[target]
    links.set(name, await openLink(url ?? ''))
  }
  return links
}

function through(url: string, link: Link | undefined): string {
  const linked = new URL(url)
  linked.host = new URL(link?.url ?? url).host
  return linked.href
}

interface Ways {
  readonly system: System
  readonly redis: OwnRedis
  readonly links: ReadonlyMap<LinkName, Link>
}

function urlsOf(
  service: Service,
  { system, redis, links }: Ways,
): Readonly<Record<string, string>> {
  const own = (name: LinkName) => links.get(name)
  const audit = own('auditor-postgres')
  if (service === 'auditor') {
    return {
      BATON_AUDIT_WRITER_URL: through(system.auditUrls.writer, audit),
      BATON_AUDIT_READER_URL: through(system.auditUrls.reader, audit),
      BATON_VAULT_URL: through(system.auditUrls.vault, audit),
    }
  }
  const ofService = service === 'gateway' ? system.databaseUrl : system.deliveryUrl
  const database = through(ofService, own(`${service}-postgres`))
  return {
    BATON_DATABASE_URL: database,
    BATON_AUDIT_URL: through(system.auditorUrl, own('receiver-auditor')),
    ...(service === 'relay' || service === 'receiver' || service === 'gateway'
      ? { BATON_REDIS_URL: through(redis.url, own(`${service}-redis`)) }
      : {}),
  }
}

/** Random HMAC key material for a rotation. */
export const freshSecret = (): string => randomBytes(32).toString('base64')
