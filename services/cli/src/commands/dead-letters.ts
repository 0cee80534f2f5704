// `dlq ls`: handoffs that were stopped and wait for a person, with where and why; never with the text itself.
import { listDeadLetters } from '@baton/store'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withDatabases } from '../instance/with-databases.ts'
import { short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

interface DeadLettersOptions {
  readonly limit: number
}

export async function deadLetters(
  context: Context,
  { limit }: DeadLettersOptions,
): Promise<ExitCode> {
  const { output } = context
  const found = await withDatabases(context, ({ pool }) => listDeadLetters(pool, limit))
  if (output.json) output.data(JSON.stringify(found))
  else if (found.length > 0) output.data(table(found))
  const first = found[0]
  if (first === undefined) output.words('Nothing waits for a person.')
  output.next(nextStep(first === undefined ? 'tasks' : `trace ${short(first.taskId)}`))
  return EXIT.fine
}

const table = (found: Awaited<ReturnType<typeof listDeadLetters>>): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'TASK' },
      { title: 'FROM → TO', widthMax: 44 },
      { title: 'REASON' },
      { title: 'WHERE', widthMax: 40 },
      { title: 'SINCE (UTC)' },
    ],
    found.map((letter) => [
      letter.handoffId,
      short(letter.taskId),
      `${letter.fromAgent} → ${letter.toAgent}`,
      letter.reason,
      placeOf(letter.details),
      letter.createdAt.toISOString().slice(0, 19).replace('T', ' '),
    ]),
  )

/** The first place and rule; `details` is what the settling receiver stored. */
function placeOf(details: unknown): string {
  const [first] = Array.isArray(details) ? (details as { pointer?: string; rule?: string }[]) : []
  if (first === undefined) return ''
  return `${first.pointer ?? ''} ${first.rule ?? ''}`.trim()
}
