// Keeps the stored tree hashes up with what is sealed, so that a proof never has to hash a whole log.
import { extendTreeHashes, readLastSeal } from '@baton/audit'
import type { ColdStore, CoveredSizes, Pool, SignedHead } from '@baton/audit'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'

interface TreeKeeperOptions {
  readonly reader: Pool
  readonly writer: Pool
  readonly cold: ColdStore | undefined
  readonly covered: () => CoveredSizes | undefined
  readonly logger: Logger
}

const EVERY_MS = 5_000

export function createTreeKeeper({
  reader,
  writer,
  cold,
  covered,
  logger,
}: TreeKeeperOptions): Service {
  async function extend(stopping: AbortSignal): Promise<void> {
    const sealed = covered()?.sealed ?? new Map<number, SignedHead>()
    const chains = [...sealed].map(([chain, { size }]) => ({ log: { chain }, size }))
    const seals = { log: 'seals' as const, size: ((await readLastSeal(reader))?.seq ?? -1) + 1 }
    for (const { log, size } of [...chains, seals]) {
      while (
        !stopping.aborted &&
        (await extendTreeHashes({ reader, writer, cold, log, size })) > 0
      );
    }
  }

  return every({
    name: 'tree-keeper',
    everyMs: EVERY_MS,
    firstAfterMs: EVERY_MS,
    run: extend,
    failed: (error) =>
      logger.warn({ event: 'audit.tree_hashes_failed', code: codeOf(error), error }),
  })
}
