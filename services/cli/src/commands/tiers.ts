// `audit tiers`: how far each chain stands in which tier, how far behind the cold one is, and what is held.
import {
  readArchivePositions,
  readCoveredSizes,
  readHeads,
  readHotDays,
  readLegalHolds,
} from '@baton/audit'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withDatabases } from '../instance/databases.ts'
import type { AuditReader } from '../instance/audit-reader.ts'
import { count, counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

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

export async function tiers(context: Context): Promise<ExitCode> {
  return withDatabases(context, async ({ audit }) => {
    const { output } = context
    const chains = await readTiers(audit)
    const holds = await readLegalHolds(audit.pool)
    const days = await readHotDays(audit.pool)
    const store = audit.cold?.description ?? null
    if (output.json) output.data(JSON.stringify({ store, oldestHotDay: days[0], chains, holds }))
    else output.data(chainTable(chains))
    const lag = chains.reduce(
      (sum, { sealed, archived }) => sum + Math.max(0, sealed - archived),
      0,
    )
    const waiting = counted(lag, 'sealed record')
    output.words(`\ncold store: ${store ?? 'none'}; ${waiting} not archived yet`)
    output.words(
      'HOT FROM: the first record the database still has; KEPT FROM: the first not expired',
    )
    output.words(`oldest day in the database: ${days[0] ?? 'none'}`)
    for (const { taskId, heldAt } of holds) {
      output.words(`held since ${heldAt.toISOString()}: task ${taskId}`)
    }
    output.next(nextStep('verify'))
    return EXIT.fine
  })
}

async function readTiers(audit: AuditReader): Promise<readonly ChainTiers[]> {
  const { pool, seals } = audit
  const heads = await readHeads(pool)
  const positions = await readArchivePositions(pool)
  const sizes = seals && (await readCoveredSizes(pool, seals.publicKey))
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

const COLUMNS = ['RECORDS', 'SEALED', 'ARCHIVED', 'PARTIAL', 'HOT FROM', 'KEPT FROM']

const chainTable = (chains: readonly ChainTiers[]): string =>
  renderTable(
    [{ title: 'CHAIN' }, ...COLUMNS.map((title) => ({ title, align: 'right' as const }))],
    chains.map(({ origin, ...sizes }) => [origin, ...Object.values(sizes).map(count)]),
  )
