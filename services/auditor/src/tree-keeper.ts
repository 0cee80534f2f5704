// Keeps the stored tree hashes up with what is sealed, so that a proof never has to hash a whole log.
import { extendTreeHashes, readLastSeal } from '@baton/audit'
import type { ColdStore, CoveredSizes, Pool } from '@baton/audit'
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'

interface TreeKeeperOptions {
  readonly reader: Pool
  readonly writer: Pool
  readonly cold: ColdStore | undefined
  readonly covered: () => CoveredSizes | undefined
  readonly logger: Logger
}

export interface TreeKeeper {
  start(): void
  stop(): Promise<void>
}

const EVERY_MS = 5_000

export function createTreeKeeper({
  reader,
  writer,
  cold,
  covered,
  logger,
}: TreeKeeperOptions): TreeKeeper {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false

  async function extend(): Promise<void> {
    const sealed = covered()?.sealed ?? new Map<number, number>()
    const chains = [...sealed].map(([chain, size]) => ({ log: { chain }, size }))
    const seals = { log: 'seals' as const, size: ((await readLastSeal(reader))?.seq ?? -1) + 1 }
    for (const { log, size } of [...chains, seals]) {
      while (!isStopped && (await extendTreeHashes({ reader, writer, cold, log, size })) > 0);
    }
  }

  function later(): void {
    timer = setTimeout(() => {
      running = extend()
        .catch((error: unknown) =>
          logger.warn({ event: 'audit.tree_hashes_failed', code: codeOf(error), error }),
        )
        .finally(() => {
          if (!isStopped) later()
        })
    }, EVERY_MS)
  }

  return {
    start: later,
    stop() {
      isStopped = true
      clearTimeout(timer)
      return running
    },
  }
}
