// The auditor's share of an erasure: the eraser's role, its routes, and the replay before traffic is taken.
import { createPrivateKey, hash, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createPool, createEraser } from '@baton/audit'
import type { AppendOutcome, ColdStore, Pool, SubjectVault } from '@baton/audit'
import { canonicalJson } from '@baton/ledger'
import type { AuditEntry, BatchSigner, Receipt } from '@baton/ledger'
import { defect } from '@baton/runtime'
import type { Batcher, Logger } from '@baton/runtime'
import type { FastifyInstance } from 'fastify'
import { requireToken } from './access.ts'
import type { AuditorSettings } from './auditor.ts'
import { addErasureRoutes } from './erasure-routes.ts'

interface ErasureParts {
  readonly settings: AuditorSettings
  readonly vaultDb: Pool
  readonly reader: Pool
  readonly cold: ColdStore | undefined
  readonly vault: SubjectVault
  readonly signer: BatchSigner
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly batcher: Batcher<AuditEntry, AppendOutcome>
  readonly logger: Logger
}

export interface ErasurePart {
  /** Carries on what was interrupted and erases again what a restore brought back; then adds the routes. */
  prepare(server: FastifyInstance): Promise<void>
  stop(): Promise<void>
}

/** Without BATON_AUDIT_ERASER_URL and its token nothing is connected, and the routes refuse. */
export function createErasurePart(parts: ErasureParts): ErasurePart {
  const { settings, vault, vaultDb, reader, cold, batchKeys, batcher, logger } = parts
  const { BATON_AUDIT_ERASER_URL: url, BATON_AUDIT_ERASE_TOKEN: token } = settings
  const db =
    url === undefined
      ? undefined
      : createPool({ url, applicationName: 'baton-auditor', connectionsMax: 2 })
  const eraser =
    db &&
    createEraser({
      db,
      vaultDb,
      vault,
      batchKeys,
      environment: settings.BATON_ENVIRONMENT,
      cold: cold && { db: reader, store: cold },
      append: (entries) => Promise.all(entries.map((entry) => append(batcher, entry))),
    })
  return {
    async prepare(server) {
      const found = await eraser?.replay()
      if (found !== undefined && found.resumed + found.keys + found.payloads > 0) {
        logger.warn({ event: 'erasure.replayed', ...found })
      }
      if (token === undefined) return
      const mayErase = requireToken(token, 'erase')
      addErasureRoutes(server, { eraser, mayErase, sign: signerOf(parts), logger })
    },
    stop: async () => db?.end(),
  }
}

async function append(batcher: ErasureParts['batcher'], entry: AuditEntry): Promise<Receipt> {
  const outcome = await batcher.add(entry)
  if (outcome.kind === 'receipt') return outcome.receipt
  throw defect('BATON_ERASURE_CHANGED', 'the log says something else of this erasure', {
    fix: 'Run `baton verify`: a list of erased segments was changed.',
  })
}

const DOMAIN = 'baton/erasure-receipt/v1\n'

/** A receipt is signed with the key that signs batches, under a name of its own. */
function signerOf({ settings, signer }: ErasureParts): (content: object) => object {
  const key = createPrivateKey({
    key: Buffer.from(settings.BATON_AUDIT_SIGNING_KEY, 'base64'),
    format: 'der',
    type: 'pkcs8',
  })
  return (content) => {
    const stated = canonicalJson(JSON.parse(JSON.stringify(content)))
    const signature = sign(null, Buffer.from(DOMAIN + stated), key).toString('base64')
    return {
      ...(JSON.parse(stated) as object),
      sha256: hash('sha256', stated),
      keyId: signer.keyId,
      signature,
    }
  }
}
