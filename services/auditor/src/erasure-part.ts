// The auditor's share of an erasure: the eraser's role, its routes, and the replay before traffic is taken.
import { createPrivateKey, hash, sign } from 'node:crypto'
import { createEraser, createPool, receiptStatement } from '@baton/audit'
import type { ErasureSigner } from '@baton/audit'
import { canonicalJson } from '@baton/ledger'
import type { AuditEntry, Receipt } from '@baton/ledger'
import { defect } from '@baton/runtime'
import { requireToken } from '@baton/http/server'
import type { Core, Part } from './core.ts'
import { addErasureRoutes } from './erasure-routes.ts'

/** Without BATON_AUDIT_ERASER_URL and its token nothing is connected, and the routes refuse. */
export function createErasurePart(core: Core): Part {
  const { settings, vault, vaultDb, writer, reader, cold, coveredNow, batchKeys, batcher, logger } =
    core
  const { BATON_AUDIT_ERASER_URL: url, BATON_AUDIT_ERASE_TOKEN: token } = settings
  const signer = erasureSigner(core)
  const db =
    url === undefined
      ? undefined
      : createPool({
          url,
          applicationName: 'baton-auditor',
          connectionsMax: 2,
          gauges: core.metrics.poolConnections,
        })
  const eraser =
    db &&
    createEraser({
      db,
      writer,
      reader,
      vaultDb,
      vault,
      batchKeys,
      people: core.people,
      environment: settings.BATON_ENVIRONMENT,
      cold: cold && { db: reader, store: cold },
      covered: coveredNow,
      sealAgeMaxMs: settings.BATON_AUDIT_SEAL_AGE_MAX_MS,
      finder: core.holdFinder,
      signer,
      append: (entries) => Promise.all(entries.map((entry) => append(batcher, entry))),
    })
  return {
    // Carries on what was interrupted and erases again what a restore brought back; then adds the routes.
    async prepare(server) {
      const found = await eraser?.replay()
      if (found !== undefined && found.resumed + found.keys + found.payloads > 0) {
        logger.warn({ event: 'erasure.replayed', ...found })
      }
      if (found !== undefined && found.unproven.length > 0) {
        logger.error({ event: 'erasure.unproven', ids: found.unproven })
      }
      if (token === undefined) return
      const mayErase = requireToken(token, 'erase')
      const { auditErasuresTotal: ended } = core.metrics
      addErasureRoutes(server, { eraser, mayErase, sign: signReceipt(signer), ended, logger })
    },
    close: async () => db?.end(),
  }
}

async function append(batcher: Core['batcher'], entry: AuditEntry): Promise<Receipt> {
  const outcome = await batcher.add(entry)
  if (outcome.kind === 'receipt') return outcome.receipt
  throw defect('BATON_ERASURE_CHANGED', 'the log says something else of this erasure', {
    fix: 'Run `baton verify`: a list of erased segments was changed.',
  })
}

/** The key that signs batches, for what is said of erasures. */
function erasureSigner({ settings, signer }: Core): ErasureSigner {
  const key = createPrivateKey({
    key: Buffer.from(settings.BATON_AUDIT_SIGNING_KEY, 'base64'),
    format: 'der',
    type: 'pkcs8',
  })
  return { keyId: signer.keyId, sign: (statement) => sign(null, statement, key) }
}

const signReceipt =
  (signer: ErasureSigner) =>
  (content: object): object => {
    const stated = canonicalJson(JSON.parse(JSON.stringify(content)))
    const signature = signer.sign(receiptStatement(stated)).toString('base64')
    return {
      ...(JSON.parse(stated) as object),
      sha256: hash('sha256', stated),
      keyId: signer.keyId,
      signature,
    }
  }
