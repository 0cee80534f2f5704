// `audit retention`: what is kept where and until when, what is held since when by whom and why, and what expires next.
import type { Finding } from '@baton/ledger'
import { withAuditor } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { count, counted, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { writeTable } from '../tables/write-table.ts'
import type { Table } from '../tables/write-table.ts'

interface Chain {
  readonly origin: string
  readonly kept: number
  readonly keptSince: string | null
  readonly inDatabaseSince: string | null
  readonly leavesDatabaseFrom: string | null
  readonly expiresFrom: string | null
  readonly heldFrom: number | null
}

interface Hold {
  readonly taskId: string
  readonly isListed: boolean
  readonly since: string | null
  readonly by: string | null
  readonly reason: string | null
  readonly assurance: string | null
  readonly findings: readonly Finding[]
}

interface Retention {
  readonly store: string | null
  readonly hotDays: number
  readonly retentionDays: number
  readonly chains: readonly Chain[]
  readonly holds: readonly Hold[]
}

/** Exit code 3 where the table of holds and their records do not agree. */
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
  const wrong = holds.filter(
    (hold) => !hold.isListed || hold.since === null || hold.findings.length > 0,
  )
  for (const { taskId, isListed } of wrong) {
    const what = isListed
      ? 'no record that can be proven says so'
      : 'the table of holds does not have it'
    output.words(`✗ task ${taskId} is held, and ${what}`)
  }
  output.next(nextStep(holds[0] === undefined ? 'audit tiers' : `trace ${short(holds[0].taskId)}`))
  return wrong.length === 0 ? EXIT.fine : EXIT.verificationFailed
}

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
    holds.map(({ taskId, since, by, reason, assurance }) => [
      taskId,
      instant(since ?? ''),
      by ?? '',
      reason ?? 'not said',
      assurance ?? 'NOT PROVEN',
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
    ...holds.map(({ taskId, since, by, reason, assurance }) => [
      'hold',
      taskId,
      null,
      since,
      null,
      null,
      null,
      by,
      reason,
      assurance,
    ]),
  ],
})
