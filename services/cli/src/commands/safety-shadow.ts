// `safety shadow`: where the candidate of the scanner decided otherwise than the one that judged; never a text of a message.
import { listShadowDifferences } from '@baton/store'
import type { ListedDifference } from '@baton/store'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withDatabases } from '../instance/databases.ts'
import { counted, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

interface ShadowOptions {
  /** RFC 3339. */
  readonly since?: string | undefined
  readonly limit: number
}

/** The newest first; with --json, JSON lines. */
export async function safetyShadow(
  context: Context,
  { since, limit }: ShadowOptions,
): Promise<ExitCode> {
  const from = since === undefined ? undefined : new Date(since)
  const differences = await withDatabases(context, ({ pool }) =>
    listShadowDifferences(pool, { since: from, limit }),
  )
  showDifferences(context, differences, limit)
  return EXIT.fine
}

export function showDifferences(
  { output }: Pick<Context, 'output'>,
  differences: readonly ListedDifference[],
  limit: number,
): void {
  if (output.json) for (const one of differences) output.data(JSON.stringify(one))
  else if (differences.length > 0) {
    output.data(countsOf(differences))
    output.data(`\n${table(differences)}`)
  }
  if (differences.length === 0)
    output.words('No candidate decided otherwise than the scanner; the metric counts what agreed.')
  if (differences.length === limit)
    output.words(`The newest ${counted(limit, 'difference')}; --limit lists more.`)
  const [newest] = differences
  output.next(newest === undefined ? SET_UP : nextStep(`trace ${short(newest.taskId)}`))
}

const SET_UP = 'name a signed candidate in BATON_SAFETY_SHADOW_FILE of receivers: infra/safety.md'

/** How often each decision of each candidate stood for which other one. */
function countsOf(differences: readonly ListedDifference[]): string {
  const counts = new Map<string, number>()
  for (const { candidateVersion, activeDecision, candidateDecision } of differences) {
    const pair = `version ${candidateVersion}: ${activeDecision} became ${candidateDecision}`
    counts.set(pair, (counts.get(pair) ?? 0) + 1)
  }
  return [...counts].map(([pair, count]) => `${pair}, ${count} times`).join('\n')
}

const table = (differences: readonly ListedDifference[]): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'JUDGED (UTC)' },
      { title: 'TENANT' },
      { title: 'SCANNER' },
      { title: 'BY', widthMax: 40 },
      { title: 'CANDIDATE' },
      { title: 'BY', widthMax: 40 },
      { title: 'VERSION' },
    ],
    differences.map((one) => [
      short(one.handoffId),
      instant(one.comparedAt.toISOString()),
      one.tenant,
      one.activeDecision,
      one.activeRules,
      one.candidateDecision,
      one.candidateRules,
      String(one.candidateVersion),
    ]),
  )
