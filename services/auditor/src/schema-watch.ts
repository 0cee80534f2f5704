// Watches the schema that the log stands in: nothing is acknowledged that a crash could take, and nothing altered goes unsaid.
import { compareDefinitions, requireDurability, requireFinishedRestore } from '@baton/audit'
import type { Pool, SubjectVault } from '@baton/audit'
import { codeOf, every, permanent } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { ProblemError } from '@baton/http/server'

interface SchemaWatchOptions {
  /** Connected as audit_writer: appends depend on nothing that others who read could use up. */
  readonly writer: Pool
  readonly vaultDb: Pool
  readonly vault: Pick<SubjectVault, 'compareDefinitions'>
  /** Starts and goes on all the same, and says what is wrong. */
  readonly allowUnsafe: boolean
  readonly metrics: Pick<
    Metrics,
    'auditTamperDetectedTotal' | 'auditDefinitionsAltered' | 'serverUnsafe'
  >
  readonly logger: Logger
}

/** Its start throws BATON_RESTORE_UNFINISHED, BATON_AUDIT_NOT_DURABLE or BATON_AUDIT_SCHEMA_ALTERED. */
export interface SchemaWatch extends Service {
  /** Whether what is acknowledged now is kept. */
  readonly isDurable: boolean
  /** Throws the 503 problem BATON_AUDIT_NOT_DURABLE while a crash could take what is acknowledged. */
  requireDurable(): void
}

const DEFINITIONS_EVERY_MS = 60_000
const DURABILITY_EVERY_MS = 5_000
const SENTENCES_LOGGED = 10
const SENTENCES_TOLD = 3

export function createSchemaWatch(options: SchemaWatchOptions): SchemaWatch {
  const { writer, vaultDb, vault, allowUnsafe, metrics, logger } = options
  let unsafe: readonly string[] = []
  let told = ''

  async function findUnsafe(): Promise<readonly string[]> {
    const found = await Promise.all([
      requireDurability(writer, { allowUnsafe: true }),
      requireDurability(vaultDb, { allowUnsafe: true }),
    ])
    const off = [...new Set(found.flat())]
    metrics.serverUnsafe.with({ server: 'postgres' }).set(off.length)
    return off
  }

  async function lookAtDurability(): Promise<void> {
    const found = await findUnsafe()
    if (found.join() !== unsafe.join()) {
      logger[found.length > 0 ? 'error' : 'info']({ event: 'audit.not_durable', off: found })
    }
    unsafe = found
  }

  /** What is altered; says each change of it once. */
  async function lookAtDefinitions(): Promise<readonly string[]> {
    const reports = await Promise.all([compareDefinitions(writer), vault.compareDefinitions()])
    const altered = reports.flatMap((report) => report.altered)
    const notCompared = reports.flatMap((report) => report.notCompared ?? [])
    metrics.auditDefinitionsAltered.set(altered.length)
    const now = JSON.stringify([altered, notCompared])
    if (now !== (told || NOTHING_ALTERED)) {
      if (altered.length > 0) metrics.auditTamperDetectedTotal.inc()
      const level = altered.length > 0 ? 'error' : notCompared.length > 0 ? 'warn' : 'info'
      const shown = altered.slice(0, SENTENCES_LOGGED)
      logger[level]({ event: 'audit.definitions', altered: shown, notCompared })
    }
    told = now
    return altered
  }

  const repeated = (name: string, everyMs: number, run: () => Promise<unknown>) =>
    every({
      name,
      everyMs,
      firstAfterMs: everyMs,
      run: async () => void (await run()),
      failed: (error) =>
        logger.warn({ event: 'audit.schema_watch_failed', code: codeOf(error), error }),
    })
  const looks = [
    repeated('durability', DURABILITY_EVERY_MS, lookAtDurability),
    repeated('definitions', DEFINITIONS_EVERY_MS, lookAtDefinitions),
  ]
  return {
    name: 'schema-watch',
    get isDurable() {
      return allowUnsafe || unsafe.length === 0
    },
    async start() {
      await requireFinishedRestore(writer)
      await requireDurability(vaultDb, { allowUnsafe })
      await requireDurability(writer, { allowUnsafe })
      unsafe = await findUnsafe()
      if (unsafe.length > 0)
        logger.warn({ event: 'server.unsafe', server: 'postgres', off: unsafe })
      const altered = await lookAtDefinitions()
      if (altered.length > 0 && !allowUnsafe) throw schemaAltered(altered)
      await Promise.all(looks.map((look) => look.start()))
    },
    async stop() {
      await Promise.all(looks.map((look) => look.stop()))
    },
    requireDurable() {
      if (!allowUnsafe && unsafe.length > 0) throw notDurable(unsafe)
    },
  }
}

const NOTHING_ALTERED = JSON.stringify([[], []])

function schemaAltered(altered: readonly string[]) {
  const more = altered.length - SENTENCES_TOLD
  const shown = altered.slice(0, SENTENCES_TOLD).join('; ')
  const rest = more > 0 ? `; and ${more} more` : ''
  const message = `the schema of the log is not what its migrations made: ${shown}${rest}`
  return permanent('BATON_AUDIT_SCHEMA_ALTERED', message, {
    fix: 'Find out who altered it, and put back what it was; `baton verify` lists everything. To start all the same, set BATON_ALLOW_UNSAFE_POSTGRES=1.',
  })
}

const notDurable = (unsafe: readonly string[]) =>
  new ProblemError({
    status: 503,
    code: 'BATON_AUDIT_NOT_DURABLE',
    detail: `the audit database could lose what it acknowledged: ${unsafe.join(', ')}`,
    fix: 'Set the settings to on, and `alter table … set logged`. Nothing executes until records are kept again.',
    headers: { 'retry-after': '5' },
  })
