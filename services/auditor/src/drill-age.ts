// How old the last drill is that passed, for whoever must be able to show that the log can be read in time.
import { readDrillAge, storePassedDrill } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Periodic } from '@baton/runtime'
import type { Gauge } from '@baton/telemetry'

interface DrillAgeParts {
  readonly reader: Pool
  /** Connected as audit_writer. */
  readonly writer: Pool
  readonly gauge: Gauge
  readonly logger: Logger
}

/** Other auditors of the same log drill too. */
const LOOK_EVERY_MS = 60_000

export interface DrillAge extends Periodic {
  /** One has passed just now. Never rejects. */
  passed(): Promise<void>
}

export function createDrillAge({ reader, writer, gauge, logger }: DrillAgeParts): DrillAge {
  let seen: { readonly seconds: number; readonly atMs: number } | undefined

  async function look(): Promise<void> {
    const seconds = await readDrillAge(reader)
    if (seen === undefined) gauge.read(age)
    seen = { seconds, atMs: performance.now() }
  }

  // Grows also while nobody can look.
  const age = (): number =>
    seen === undefined ? 0 : seen.seconds + (performance.now() - seen.atMs) / 1_000

  const failed = (error: unknown): void =>
    logger.warn({ event: 'audit.drill_age_failed', code: codeOf(error), error })
  const looks = every({
    name: 'drill-age',
    everyMs: LOOK_EVERY_MS,
    firstAfterMs: 0,
    run: look,
    failed,
  })
  return {
    ...looks,
    async passed() {
      try {
        await storePassedDrill(writer)
        await look()
      } catch (error) {
        failed(error)
      }
    },
  }
}
