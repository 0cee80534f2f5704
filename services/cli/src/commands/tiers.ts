// `audit tiers`: how far each chain stands in which tier, how far behind the cold one is, and what is held.
import { withAuditor } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { count, counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

interface Tiers {
  /** Words for a person: the cold store. */
  readonly store: string | null
  readonly oldestHotDay?: string
  readonly chains: readonly {
    readonly origin: string
    readonly records: number
    readonly sealed: number
    readonly archived: number
    readonly partial: number
    readonly hotFrom: number
    readonly minIndex: number
  }[]
  readonly holds: readonly { readonly taskId: string; readonly heldAt: string }[]
}

export async function tiers(context: Context): Promise<ExitCode> {
  const { output } = context
  const found = await withAuditor(context, 'read', (auditor) => auditor.json<Tiers>('/v1/tiers'))
  const { store, oldestHotDay, chains, holds } = found
  if (output.json) output.data(JSON.stringify(found))
  else output.data(chainTable(chains))
  const lag = chains.reduce((sum, { sealed, archived }) => sum + Math.max(0, sealed - archived), 0)
  const waiting = counted(lag, 'sealed record')
  output.words(`\ncold store: ${store ?? 'none'}; ${waiting} not archived yet`)
  output.words(
    'HOT FROM: the first record the database still has; KEPT FROM: the first not expired',
  )
  output.words(`oldest day in the database: ${oldestHotDay ?? 'none'}`)
  for (const { taskId, heldAt } of holds) output.words(`held since ${heldAt}: task ${taskId}`)
  output.next(nextStep('verify'))
  return EXIT.fine
}

const COLUMNS = ['RECORDS', 'SEALED', 'ARCHIVED', 'PARTIAL', 'HOT FROM', 'KEPT FROM']

const chainTable = (chains: Tiers['chains']): string =>
  renderTable(
    [{ title: 'CHAIN' }, ...COLUMNS.map((title) => ({ title, align: 'right' as const }))],
    chains.map(({ origin, ...sizes }) => [origin, ...Object.values(sizes).map(count)]),
  )
