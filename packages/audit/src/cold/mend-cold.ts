// Writes anew what is missing in the cold store, out of the hot one, where its bytes lead to the root that was signed.
import type { KeyObject } from 'node:crypto'
import { LedgerError, TILE_WIDTH } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import type { Pool } from '../database.ts'
import { archiveLog, readArchiveTargets } from './archive-log.ts'
import type { ArchiveTarget } from './archive-log.ts'
import { publishHead } from './cold-head.ts'
import { createColdWatch } from './cold-watch.ts'
import type { ColdStore } from './cold-store.ts'
import { openLogArchive } from './log-archive.ts'

interface MendOptions {
  /** Connected as audit_archiver. */
  readonly pool: Pool
  readonly store: ColdStore
  readonly sealKey: KeyObject
}

export interface Mended {
  /** The names of the objects that were written. */
  readonly written: readonly string[]
  /** What is still missing or changed: nothing in the place of another object is ever replaced. */
  readonly findings: readonly Finding[]
}

/**
 * Nothing is written of a log whose records in the database do not lead to the signed root. What was dropped from the
 * database cannot be made anew. Safe to repeat.
 */
export async function mendColdStore(options: MendOptions): Promise<Mended> {
  const { pool, sealKey } = options
  const written: string[] = []
  const store: ColdStore = {
    ...options.store,
    async putIfAbsent(name, bytes) {
      const outcome = await options.store.putIfAbsent(name, bytes)
      if (outcome === 'stored') written.push(name)
      return outcome
    },
    async replace(name, bytes) {
      await options.store.replace(name, bytes)
      written.push(name)
    },
  }
  const findings: Finding[] = []
  for (const target of await readArchiveTargets(pool, sealKey)) {
    findings.push(...(await mendLog({ pool, store, target })))
  }
  const now = () => new Date()
  const watch = createColdWatch({ pool, store, sealKey, rootOf: () => undefined, now })
  return { written, findings: [...findings, ...(await watch.recheck())] }
}

interface OneLog extends Omit<MendOptions, 'sealKey'> {
  readonly target: ArchiveTarget
}

/** As an archiver that had got no further than where the database begins: what stands there already must be the same. */
async function mendLog({ pool, store, target }: OneLog): Promise<readonly Finding[]> {
  const { origin, position, signers } = target
  const size = Math.ceil(position.hotFrom / TILE_WIDTH) * TILE_WIDTH
  try {
    const archive = await openLogArchive({ store, origin, size })
    const findings = await archiveLog({
      pool,
      log: target,
      archive,
      target,
      withTail: true,
      onArchived: () => undefined,
      isStopped: () => false,
    })
    if (findings.length > 0 || archive.tail !== target.size) return findings
    return await publishHead({ store, origin, signers }, target)
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    return [{ origin, seq: null, rule: 'TILE_MISSING', message: error.message }]
  }
}
