// GET /v1/tiers: how far each chain stands in which tier, and which tasks must stay.
import {
  readArchivePositions,
  readCoveredSizes,
  readHeads,
  readHotDays,
  readLegalHolds,
} from '@baton/audit'
import type { ColdStore, Pool } from '@baton/audit'
import type { FastifyInstance } from 'fastify'
import type { readBatchPublicKey } from '@baton/ledger'
import type { RequireToken } from './access.ts'

interface TierRoutes {
  readonly reader: Pool
  readonly cold: ColdStore | undefined
  /** Undefined where nobody is known who seals. */
  readonly sealKey: ReturnType<typeof readBatchPublicKey> | undefined
  readonly mayRead: RequireToken
}

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

export function addTierRoutes(server: FastifyInstance, routes: TierRoutes): void {
  const { reader, cold, mayRead } = routes
  server.get('/v1/tiers', {
    onRequest: async (request) => mayRead(request.headers.authorization),
    handler: async () => ({
      store: cold?.description ?? null,
      oldestHotDay: (await readHotDays(reader))[0],
      chains: await readTiers(routes),
      holds: await readLegalHolds(reader),
    }),
  })
}

async function readTiers({ reader, sealKey }: TierRoutes): Promise<readonly ChainTiers[]> {
  const heads = await readHeads(reader)
  const positions = await readArchivePositions(reader)
  const sizes = sealKey && (await readCoveredSizes(reader, sealKey))
  return heads.map(({ chain, origin, size }) => {
    const position = positions.get(chain)
    return {
      origin,
      records: size,
      sealed: sizes?.sealed.get(chain) ?? 0,
      archived: Math.max(position?.size ?? 0, position?.tail ?? 0),
      partial: Math.max(0, (position?.tail ?? 0) - (position?.size ?? 0)),
      hotFrom: position?.hotFrom ?? 0,
      minIndex: position?.minIndex ?? 0,
    }
  })
}
