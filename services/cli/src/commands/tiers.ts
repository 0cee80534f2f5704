// `audit tiers`: how far each chain stands in which tier, how far behind the cold one is, and what is held.
import { withAuditor } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { count, counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { exitOfLooked, HOLD_STATES, isAltered, MORE_HOLDS, unprovenLines } from './told-hold.ts'
import type { HoldsLooked, ToldHold } from './told-hold.ts'

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
  readonly watch: {
    readonly lastPass: { readonly endedAt: string; readonly bundles: number } | null
    readonly faults: number
    readonly moreFaults: boolean
    readonly firstFaults: readonly { readonly rule: string; readonly message: string }[]
  }
  readonly holds: readonly ToldHold[]
  readonly moreHolds: boolean
  readonly holdsLooked: HoldsLooked
}

/** Exit code 3 where something of the cold store is missing or changed, or a hold is told otherwise than it was recorded; 4 where there are more holds, or may be. */
export async function tiers(context: Context): Promise<ExitCode> {
  const { output } = context
  const found = await withAuditor(context, 'read', (auditor) => auditor.json<Tiers>('/v1/tiers'))
  const { store, watch, oldestHotDay, chains, holds } = found
  if (output.json) output.data(JSON.stringify(found))
  else output.data(chainTable(chains))
  const lag = chains.reduce((sum, { sealed, archived }) => sum + Math.max(0, sealed - archived), 0)
  const waiting = counted(lag, 'sealed record')
  output.words(`\ncold store: ${store ?? 'none'}; ${waiting} not archived yet`)
  for (const line of watchLines(watch)) output.words(line)
  output.words(
    'HOT FROM: the first record the database still has; KEPT FROM: the first not expired',
  )
  output.words(`oldest day in the database: ${oldestHotDay ?? 'none'}`)
  for (const hold of holds) output.words(holdLine(hold))
  if (found.moreHolds) output.words(MORE_HOLDS)
  for (const line of unprovenLines(found.holdsLooked)) output.words(line)
  output.next(watch.faults === 0 ? nextStep('verify') : nextStep('audit mend-cold'))
  const isFine =
    watch.faults === 0 && !holds.some(isAltered) && found.holdsLooked.findings.length === 0
  if (!isFine) return EXIT.verificationFailed
  return found.moreHolds ? EXIT.incomplete : exitOfLooked(found.holdsLooked)
}

function holdLine({ taskId, record, ...hold }: ToldHold): string {
  const since = record === null ? '' : ` since ${record.recordedAt}`
  const mark = isAltered({ taskId, record, ...hold }) ? '✗ ' : ''
  return `${mark}${HOLD_STATES[hold.state]}${since}: task ${taskId}`
}

function watchLines({
  lastPass,
  faults,
  moreFaults,
  firstFaults,
}: Tiers['watch']): readonly string[] {
  const passed =
    lastPass === null
      ? 'not yet read again to the end'
      : `read again to the end at ${lastPass.endedAt}: ${counted(lastPass.bundles, 'bundle')}`
  if (faults === 0) return [`cold store: ${passed}; nothing missing or changed`]
  const wrong = `${counted(faults, 'bundle')}${moreFaults ? ' or more' : ''} MISSING OR CHANGED; the archiver stands still`
  return [
    `cold store: ${passed}; ${wrong}`,
    ...firstFaults.map(({ rule, message }) => `    ${message} (${rule})`),
  ]
}

const COLUMNS = ['RECORDS', 'SEALED', 'ARCHIVED', 'PARTIAL', 'HOT FROM', 'KEPT FROM']

const chainTable = (chains: Tiers['chains']): string =>
  renderTable(
    [{ title: 'CHAIN' }, ...COLUMNS.map((title) => ({ title, align: 'right' as const }))],
    chains.map(({ origin, ...sizes }) => [origin, ...Object.values(sizes).map(count)]),
  )
