// A whole Baton with the keepers of its log, every service a supervised process, on a Postgres that may be killed.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSystem, eventually, spawnService } from '@baton/testkit'
import type { ServiceName, System } from '@baton/testkit'
import { startSlot } from './slot.ts'
import type { Slot } from './slot.ts'
import { campaignSettings } from './world.ts'
import type { Servers } from './world.ts'

const SLOTS: Readonly<Partial<Record<ServiceName, readonly string[]>>> = {
  witness: ['witness-1'],
  sealer: ['sealer-1'],
  auditor: ['auditor-1'],
  archiver: ['archiver-1'],
  relay: ['relay-1'],
  receiver: ['receiver-1', 'receiver-2'],
}

/** Sealed five times a second and archived once, so that most kills come into the middle of something. */
const PACE = {
  BATON_SEAL_EVERY_MS: '200',
  BATON_SEAL_ANCHOR_EVERY_MS: '0',
  BATON_ARCHIVE_EVERY_MS: '500',
  BATON_ARCHIVE_RETENTION_EVERY_MS: '2000',
  BATON_AUDIT_SCRUB_PER_SECOND: '2000',
}
/** The archiver's last round before it ends. */
const ARCHIVER_DRAIN_MS = '60000'

export interface LedgerWorld extends Servers {
  readonly system: System
  readonly ledger: NonNullable<System['ledger']>
  /** By name, for example `sealer-1`. */
  readonly slots: ReadonlyMap<string, Slot>
  /** A superuser's connections to the operational database. */
  readonly admin: Pool
  /** Outside the system: ledgers, histories, receipts, logs. */
  readonly folder: string
  end(): Promise<void>
}

const START_MAX_MS = 120_000

export async function startLedgerWorld({
  postgres,
  redis,
  folder,
}: Servers & { readonly folder: string }): Promise<LedgerWorld> {
  mkdirSync(folder, { recursive: true })
  const system = await createSystem({
    purpose: 'ledger',
    adminUrl: postgres.superuserUrl,
    redisUrl: redis.url,
    agents: './test/chaos/effect-agents.ts',
    ledgerFolder: join(folder, 'kept'),
    env: { ...campaignSettings(folder), ...PACE },
  })
  const { ledger } = system
  if (ledger === undefined) throw new Error('the system has no keepers of its log')
  const admin = createPool({
    url: system.adminUrls.store,
    applicationName: 'chaos',
    connectionsMax: 2,
  })
  const slots = new Map<string, Slot>()
  for (const [service, names] of Object.entries(SLOTS)) {
    for (const name of names) slots.set(name, supervise(service as ServiceName, name))
  }

  function supervise(service: ServiceName, name: string): Slot {
    const env = {
      ...system.environmentOf(service),
      ...(service === 'archiver' ? { BATON_DRAIN_MS: ARCHIVER_DRAIN_MS } : {}),
    }
    const main = `services/${service}/src/main.ts`
    const spawn = () => spawnService({ main, ready: false, env })
    return startSlot({ name, service, folder, spawn })
  }

  async function end(): Promise<void> {
    await Promise.all([...slots.values()].map((slot) => slot.end()))
    await admin.end()
  }

  try {
    await eventually(() => [...slots.values()].every((slot) => slot.ready()), {
      deadlineMs: START_MAX_MS,
      describe: `every service is ready; see the logs in ${folder}`,
    })
  } catch (error) {
    await end()
    throw error
  }
  return { postgres, redis, system, ledger, slots, admin, folder, end }
}
