// `audit holds`: which tasks must stay, told by their records and not by the table that follows from them.
import { withAuditor } from '../auditor-client.ts'
import type { AuditorClient } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { counted, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { HOLD_STATES, isAltered } from './told-hold.ts'
import type { ToldHold } from './told-hold.ts'

/** Exit code 3 where a hold is told otherwise than it was recorded, 4 where one is not under a signed head yet. */
export async function holds(context: Context): Promise<ExitCode> {
  const { output } = context
  const found = await withAuditor(context, 'read', readHolds)
  if (output.json) output.data(JSON.stringify(found))
  else if (found.length > 0) output.data(table(found))
  const altered = found.filter(isAltered)
  const young = found.filter(({ record }) => record?.assurance === 'committed')
  output.words(
    found.length === 0
      ? 'No task is held.'
      : `${counted(found.length, 'task')} held or not proven free.`,
  )
  if (altered.length > 0) {
    const ids = altered.map(({ taskId }) => taskId).join(', ')
    output.words(`Not verified: the records of ${ids} or the table of holds were changed.`)
    output.next(nextStep('verify'))
    return EXIT.verificationFailed
  }
  if (young.length > 0) {
    output.words(`${counted(young.length, 'record')} not under a signed head yet.`)
    return EXIT.incomplete
  }
  output.next(nextStep('audit tiers'))
  return EXIT.fine
}

/** All of them, page by page. */
async function readHolds(auditor: AuditorClient): Promise<readonly ToldHold[]> {
  const holds: ToldHold[] = []
  let path = '/v1/holds'
  for (;;) {
    const page = await auditor.json<{ holds: readonly ToldHold[]; next: string | null }>(path)
    holds.push(...page.holds)
    if (page.next === null) return holds
    path = `/v1/holds?after=${page.next}`
  }
}

const table = (found: readonly ToldHold[]): string =>
  renderTable(
    [
      { title: 'TASK' },
      { title: 'STATE' },
      { title: 'SINCE (UTC)' },
      { title: 'BY' },
      { title: 'KEPT' },
      { title: 'RECORD' },
    ],
    found.map(({ taskId, state, record }) => [
      taskId,
      HOLD_STATES[state],
      record === null ? '' : instant(record.recordedAt),
      record?.actor ?? '',
      record?.assurance ?? '',
      record === null ? '' : short(record.recordHash),
    ]),
  )
