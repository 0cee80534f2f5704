// GET /v1/tiers and /v1/retention: how far each chain stands in which tier, what is kept until when, and which tasks must stay.
import {
  readArchivePositions,
  readColdWatch,
  readCoveredSizes,
  readFirstColdFaults,
  readHeads,
  readHotDays,
  readRetention,
} from '@baton/audit'
import type { ColdFault, ColdWatchPosition, Pool } from '@baton/audit'
import type { FastifyRequest } from 'fastify'
import type { Core, Part } from './core.ts'
import { tellHolds } from './tell-holds.ts'

interface ChainTiers {
  readonly origin: string
  readonly records: number
  readonly sealed: number
  /** In the cold store, the bundle that is not full yet included. */
  readonly archived: number
  /** In that last bundle: they leave the database only once it is full. */
  readonly partial: number
  /** The first record that the database still has. */
  readonly hotFrom: number
  /** The first record that has not expired. */
  readonly minIndex: number
}

export const createTierPart = (core: Core): Part => ({
  prepare(server) {
    const { reader, cold, settings } = core
    const mayRead = core.callers.guard('read', settings.BATON_AUDIT_READ_TOKEN)
    const onRequest = async ({ headers }: FastifyRequest) =>
      void (await mayRead(headers.authorization))
    server.get('/v1/tiers', { onRequest }, async () => ({
      store: cold?.description ?? null,
      watch: await readWatch(reader),
      oldestHotDay: (await readHotDays(reader))[0],
      chains: await readTiers(core),
      ...(await holdsOf(core)),
    }))
    server.get('/v1/retention', { onRequest }, async () => {
      const { BATON_AUDIT_HOT_DAYS: hotDays, BATON_AUDIT_RETENTION_DAYS: retentionDays } = settings
      return {
        store: cold?.description ?? null,
        hotDays,
        retentionDays,
        chains: await readRetention(reader, { hotDays, retentionDays, cold }),
        ...(await holdsOf(core)),
      }
    })
  },
})

/** Told by their records, as everywhere; `moreHolds` where GET /v1/holds tells others. */
async function holdsOf(core: Core) {
  const { holds, next, looked } = await tellHolds(core)
  return { holds, moreHolds: next !== null, holdsLooked: looked }
}

interface WatchStatus {
  readonly passStartedAt: string | null
  readonly passBundles: number
  readonly lastPass: ColdWatchPosition['lastPass']
  /** Bundles of which an object is missing or changed. */
  readonly faults: number
  /** Whether there may be more of them than so many. */
  readonly moreFaults: boolean
  readonly firstFaults: readonly ColdFault[]
}

const FAULTS_SHOWN_MAX = 20

/** What the archiver has read again of the cold store, and found. */
async function readWatch(reader: Pool): Promise<WatchStatus> {
  const position = await readColdWatch(reader)
  const { faults, isFull } = await readFirstColdFaults(reader)
  return {
    passStartedAt: position?.passStartedAt ?? null,
    passBundles: position?.passBundles ?? 0,
    lastPass: position?.lastPass ?? null,
    faults: faults.length,
    moreFaults: isFull,
    firstFaults: faults.slice(0, FAULTS_SHOWN_MAX),
  }
}

async function readTiers({ reader, sealKey, settings }: Core): Promise<readonly ChainTiers[]> {
  const heads = await readHeads(reader)
  const positions = await readArchivePositions(reader)
  const sizes = sealKey && (await readCoveredSizes(reader, sealKey, settings))
  return heads.map(({ chain, origin, size }) => {
    const position = positions.get(chain)
    return {
      origin,
      records: size,
      sealed: sizes?.sealed.get(chain)?.size ?? 0,
      archived: Math.max(position?.size ?? 0, position?.tail ?? 0),
      partial: Math.max(0, (position?.tail ?? 0) - (position?.size ?? 0)),
      hotFrom: position?.hotFrom ?? 0,
      minIndex: position?.minIndex ?? 0,
    }
  })
}
