// Shows how much of the disks is free that a process itself writes to.
import { statfs } from 'node:fs/promises'
import type { Metrics } from '@baton/telemetry'
import { codeOf } from './errors.ts'
import { every } from './every.ts'
import type { Logger } from './logger.ts'
import type { Service } from './service.ts'

interface DiskWatchOptions {
  /** The path of each, by the name that the metric gives it; what is undefined is left out. */
  readonly folders: Readonly<Record<string, string | undefined>>
  readonly metrics: Pick<Metrics, 'diskFreeRatio'>
  readonly logger: Logger
}

const EVERY_MS = 60_000

/** Once a minute, from the start on. A folder that cannot be asked shows nothing new, and the others go on. */
export function createDiskWatch({ folders, metrics, logger }: DiskWatchOptions): Service {
  async function measure([folder, path]: readonly [string, string | undefined]): Promise<void> {
    if (path === undefined) return
    try {
      const { bavail, blocks } = await statfs(path)
      metrics.diskFreeRatio.with({ folder }).set(blocks === 0 ? 0 : bavail / blocks)
    } catch (error) {
      logger.warn({ event: 'disk.unmeasured', folder, code: codeOf(error) })
    }
  }

  return every({
    name: 'disk-watch',
    everyMs: EVERY_MS,
    run: async () => void (await Promise.all(Object.entries(folders).map(measure))),
    failed: (error) => logger.warn({ event: 'disk.unmeasured', code: codeOf(error) }),
  })
}
