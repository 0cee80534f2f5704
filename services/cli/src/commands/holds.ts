// `audit holds`: which tasks must stay, told by their records and not by the table that follows from them.
import { withAuditor } from '../auditor-client.ts'
import type { AuditorClient } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { counted, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { pageOfAll, sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'
import { exitOfLooked, HOLD_STATES, isAltered, unprovenLines } from './told-hold.ts'
import type { HoldsLooked, ToldHold } from './told-hold.ts'

interface Told {
  readonly looked: HoldsLooked
  readonly holds: readonly ToldHold[]
}

/**
 * All of them are read, whatever is shown, for all of them are judged. Exit code 3 where a hold is told otherwise than it was recorded, or the log is not what was sealed; 4 where one is not under a
 * signed head yet, or it is not proven that there are no others.
 */
export async function holds(context: Context, flags: PageFlags): Promise<ExitCode> {
  const { output } = context
  const told = await withAuditor(context, 'read', (auditor) =>
    readHolds(auditor, (text) => output.progress(text)),
  )
  output.endProgress()
  const { holds: found, looked } = told
  const listed = pageOfAll(found, { keyOf: keyOfHold, flags })
  const { rows } = listed
  if (output.json) output.data(JSON.stringify({ proven: looked.proven, looked, holds: rows }))
  else if (rows.length > 0) output.data(table(rows))
  sayShown(output, listed, `audit holds${typedAgain({ limit: flags.limit })}`)
  const altered = found.filter(isAltered)
  const young = found.filter(({ record }) => record?.assurance === 'committed')
  output.words(countOf(told))
  for (const line of unprovenLines(looked)) output.words(line)
  if (altered.length > 0) {
    const ids = altered.map(({ taskId }) => taskId).join(', ')
    output.words(`Not verified: the records of ${ids} or the table of holds were changed.`)
    output.next(nextStep('verify'))
    return EXIT.verificationFailed
  }
  if (!looked.proven) {
    output.next(nextStep('verify'))
    return exitOfLooked(looked)
  }
  if (young.length > 0) {
    output.words(`${counted(young.length, 'record')} not under a signed head yet.`)
    return EXIT.incomplete
  }
  output.next(nextStep('audit tiers'))
  return EXIT.fine
}

/** In order of time. */
const keyOfHold = ({ taskId, record }: ToldHold): string => `${record?.recordedAt ?? '0'} ${taskId}`

function countOf({ holds: found, looked }: Told): string {
  if (found.length > 0) return `${counted(found.length, 'task')} held or not proven free.`
  return looked.proven ? 'No task is held.' : 'No held task was found.'
}

/** All of them, page by page; a long log is read in several answers, each of which goes on where the one before ended. */
async function readHolds(auditor: AuditorClient, progress: (text: string) => void): Promise<Told> {
  const holds: ToldHold[] = []
  let path = '/v1/holds'
  let unread = Infinity
  for (;;) {
    const page = await auditor.json<Told & { readonly next: string | null }>(path)
    const { looked, next } = page
    if (looked.unread > 0 && looked.unread < unread) {
      unread = looked.unread
      progress(`${counted(unread, 'record')} still to be read`)
      continue
    }
    holds.push(...page.holds)
    if (next === null) return { holds, looked }
    path = `/v1/holds?after=${next}`
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
