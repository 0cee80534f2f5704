// `audit retention`: what is kept where and until when, what is held since when by whom and why, and what expires next.
import { withAuditor } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { count, counted, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { writeTable } from '../tables/write-table.ts'
import type { Table } from '../tables/write-table.ts'
import { exitOfLooked, HOLD_STATES, isAltered, MORE_HOLDS, unprovenLines } from './told-hold.ts'
import type { HoldsLooked, ToldHold } from './told-hold.ts'

interface Chain {
  readonly origin: string
  readonly kept: number
  readonly keptSince: string | null
  readonly inDatabaseSince: string | null
  readonly leavesDatabaseFrom: string | null
  readonly expiresFrom: string | null
  readonly heldFrom: number | null
}

interface Retention {
  readonly store: string | null
  readonly hotDays: number
  readonly retentionDays: number
  readonly chains: readonly Chain[]
  readonly holds: readonly ToldHold[]
  readonly moreHolds: boolean
  readonly holdsLooked: HoldsLooked
}

/** Exit code 3 where the table of holds and their records do not agree, 4 where there are more holds than are told, or may be. */
export async function retention(context: Context, out: string | undefined): Promise<ExitCode> {
  const { output } = context
  const found = await withAuditor(context, 'read', (auditor) =>
    auditor.json<Retention>('/v1/retention'),
  )
  if (out !== undefined) await writeTable(out, tableOf(found))
  if (output.json) output.data(JSON.stringify(found))
  else output.data(show(found))
  const { store, hotDays, retentionDays, chains, holds } = found
  output.words(
    `\nIn the database for ${counted(hotDays, 'day')}, kept for ${counted(retentionDays, 'day')} in all; cold store: ${store ?? 'none'}.`,
  )
  output.words(nextExpiry(chains))
  for (const hold of holds) {
    if (isAltered(hold) || isLifted(hold)) output.words(`✗ task ${hold.taskId}: ${wordsOf(hold)}`)
  }
  if (found.moreHolds) output.words(MORE_HOLDS)
  for (const line of unprovenLines(found.holdsLooked)) output.words(line)
  output.next(nextStep(holds[0] === undefined ? 'audit tiers' : `trace ${short(holds[0].taskId)}`))
  const { findings } = found.holdsLooked
  if (holds.some(isAltered) || findings.length > 0) return EXIT.verificationFailed
  return found.moreHolds ? EXIT.incomplete : exitOfLooked(found.holdsLooked)
}

const isLifted = ({ state }: ToldHold): boolean => state === 'lift_unproven'

const wordsOf = ({ state, isListed }: ToldHold): string =>
  state === 'held' && !isListed
    ? 'held, and the table of holds does not have it'
    : HOLD_STATES[state]

/** How well the record of a hold is kept; what was altered is not proven, however it is kept. */
const keptOf = (hold: ToldHold): string | null =>
  hold.state === 'held' || isLifted(hold) ? (hold.record?.assurance ?? null) : null

const day = (text: string | null): string => (text === null ? '' : text.slice(0, 10))

function show({ chains, holds }: Retention): string {
  const kept = renderTable(
    [
      { title: 'CHAIN' },
      { title: 'RECORDS', align: 'right' },
      { title: 'KEPT SINCE' },
      { title: 'IN DATABASE SINCE' },
      { title: 'LEAVES DATABASE FROM' },
      { title: 'EXPIRES FROM' },
      { title: 'HELD FROM RECORD', align: 'right' },
    ],
    chains.map((chain) => [
      chain.origin,
      count(chain.kept),
      day(chain.keptSince),
      day(chain.inDatabaseSince),
      day(chain.leavesDatabaseFrom),
      day(chain.expiresFrom),
      chain.heldFrom === null ? '' : count(chain.heldFrom),
    ]),
  )
  if (holds.length === 0) return kept
  const held = renderTable(
    [
      { title: 'HELD TASK' },
      { title: 'SINCE (UTC)' },
      { title: 'BY' },
      { title: 'WHY' },
      { title: 'KEPT' },
    ],
    holds.map((hold) => [
      hold.taskId,
      hold.record === null ? '' : instant(hold.record.recordedAt),
      hold.record?.actor ?? '',
      hold.record?.reason ?? 'not said',
      keptOf(hold) ?? 'NOT PROVEN',
    ]),
  )
  return `${kept}\n\n${held}`
}

function nextExpiry(chains: readonly Chain[]): string {
  const [next] = chains
    .filter(({ expiresFrom, heldFrom }) => expiresFrom !== null && heldFrom === null)
    .toSorted((left, right) => ((left.expiresFrom ?? '') < (right.expiresFrom ?? '') ? -1 : 1))
  if (next === undefined) return 'Nothing expires: every chain is empty or held.'
  return `Expires next: the oldest full bundle of ${next.origin}, from ${day(next.expiresFrom)} on. A hold stops its chain there.`
}

const tableOf = ({ chains, holds }: Retention): Table => ({
  columns: [
    { name: 'what', type: 'text' },
    { name: 'name', type: 'text' },
    { name: 'records', type: 'number' },
    { name: 'since', type: 'text' },
    { name: 'in_database_since', type: 'text' },
    { name: 'leaves_database_from', type: 'text' },
    { name: 'expires_from', type: 'text' },
    { name: 'by', type: 'text' },
    { name: 'reason', type: 'text' },
    { name: 'kept', type: 'text' },
  ],
  rows: [
    ...chains.map(({ origin, kept, keptSince, ...chain }) => [
      'chain',
      origin,
      kept,
      keptSince,
      chain.inDatabaseSince,
      chain.leavesDatabaseFrom,
      chain.expiresFrom,
      null,
      null,
      null,
    ]),
    ...holds.map((hold) => [
      'hold',
      hold.taskId,
      null,
      hold.record?.recordedAt ?? null,
      null,
      null,
      null,
      hold.record?.actor ?? null,
      hold.record?.reason ?? null,
      keptOf(hold),
    ]),
  ],
})
