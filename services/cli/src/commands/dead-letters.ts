// `dlq ls`, `show`, `clusters`: handoffs that were stopped and wait for a person; the text only where asked for.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway, withReadingGateway } from '../gateway-client.ts'
import { count, instant, short } from '../terminal/figures.ts'
import { nextStep, quoted } from '../terminal/next-steps.ts'
import type { Output } from '../terminal/output.ts'
import { clip, renderTable } from '../terminal/table.ts'
import { findDeadLetter } from './find-dead-letter.ts'
import type { DeadLetter, DeadLetterCase, Evidence } from './find-dead-letter.ts'
import { readPages, sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'
import { BRANCH_COLUMN } from './waiting-branches.ts'

interface DeadLettersOptions extends PageFlags {
  readonly reason?: string | undefined
  readonly cluster?: string | undefined
}

export async function deadLetters(
  context: Context,
  options: DeadLettersOptions,
): Promise<ExitCode> {
  const { output } = context
  const { reason, cluster, ...flags } = options
  const filter = { reason, cluster }
  const asked = { path: '/v2/dead-letters', name: 'deadLetters', filter, flags }
  const listed = await withReadingGateway(context, (gateway) =>
    readPages<DeadLetter>(gateway, asked),
  )
  const found = listed.rows
  if (output.json) output.data(JSON.stringify(found))
  else if (found.length > 0) output.data(table(found))
  const first = found[0]
  if (first === undefined) output.words('Nothing waits for a person.')
  sayShown(output, listed, `dlq ls${typedAgain({ ...filter, limit: flags.limit })}`)
  output.next(nextStep(first === undefined ? 'tasks' : `dlq show ${short(first.handoffId)}`))
  return EXIT.fine
}

function table(found: readonly DeadLetter[]): string {
  const branched = found.some(({ branch }) => branch !== null)
  return renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'TASK', dropAt: 2 },
      ...(branched ? [BRANCH_COLUMN] : []),
      { title: 'FROM → TO', widthMax: 44, dropAt: 3 },
      { title: 'REASON' },
      { title: 'WHERE', widthMax: 40, dropAt: 4 },
      { title: 'SINCE (UTC)', dropAt: 1 },
    ],
    found.map((deadLetter) => [
      deadLetter.handoffId,
      short(deadLetter.taskId),
      ...(branched ? [deadLetter.branch ?? ''] : []),
      `${deadLetter.fromAgent} → ${deadLetter.toAgent}`,
      deadLetter.reason,
      placeOf(deadLetter.details),
      instant(deadLetter.createdAt),
    ]),
  )
}

/** The first place and rule. */
function placeOf([first]: readonly Evidence[]): string {
  if (first === undefined) return ''
  return `${first.pointer ?? ''} ${first.rule ?? ''}`.trim()
}

export async function showDeadLetter(
  context: Context,
  { deadLetterId, text }: { readonly deadLetterId: string; readonly text: boolean },
): Promise<ExitCode> {
  const { output } = context
  // Whoever reads the text is named in the log of the gateway that runs.
  return (text ? withGateway : withReadingGateway)(context, async (gateway) => {
    const deadLetter = await findDeadLetter(gateway, deadLetterId)
    const path = `/v2/dead-letters/${deadLetter.handoffId}/message`
    const message = text ? await gateway.get<object>(path) : undefined
    if (output.json) output.data(JSON.stringify({ ...deadLetter, ...message }))
    else for (const line of linesOf(deadLetter)) output.data(line)
    if (!output.json && message !== undefined) output.data(JSON.stringify(message, null, 2))
    sayRecorded(output, deadLetter)
    if (deadLetter.recorded?.verified === false) {
      output.next(nextStep('verify'))
      return EXIT.verificationFailed
    }
    output.next(nextFor(deadLetter))
    return EXIT.fine
  })
}

function linesOf(deadLetter: DeadLetterCase): readonly string[] {
  const { release, redact, sentBy, resolution, branch } = deadLetter
  const sender = sentBy === null ? '' : `, sent by ${sentBy}`
  return [
    `Dead letter ${deadLetter.handoffId} of task ${deadLetter.taskId}${branch === null ? '' : `, branch ${clip(branch, 40)}`}`,
    `${deadLetter.reason}: ${deadLetter.fromAgent} → ${deadLetter.toAgent}${sender}, ${count(deadLetter.bytes)} bytes, since ${instant(deadLetter.createdAt)} UTC`,
    '',
    renderTable(
      [
        { title: 'WHERE', widthMax: 60 },
        { title: 'RULE' },
        { title: 'SPAN' },
        { title: 'WHAT', widthMax: 60 },
      ],
      deadLetter.details.map(({ pointer = '', rule = '', span, message = '' }) => [
        pointer,
        rule,
        span === undefined ? '' : span.join('-'),
        message,
      ]),
    ),
    '',
    ...deadLetter.proposals.map(
      ({ action, proposal, reviewers }) =>
        `${action} ${short(proposal)} agreed by ${reviewers.map(({ reviewer }) => reviewer).join(', ')}`,
    ),
    resolution === null
      ? `Release needs ${people(release?.needed)}, redaction ${people(redact?.needed)}.`
      : `Decided: ${resolution} at ${instant(deadLetter.resolvedAt ?? '')} UTC.`,
  ]
}

/** What is shown above comes from the operational database; the log says which of it was recorded. */
function sayRecorded(output: Output, { recorded, taskId }: DeadLetterCase): void {
  if (!recorded) return output.words('The log could not be asked: nothing here is proven.')
  for (const { event, recordedAt, actor, recordHash, assurance } of recorded.records) {
    const by = actor === null ? '' : ` by ${actor}`
    output.words(`${instant(recordedAt)}  ${event}${by}  ${assurance}  ${short(recordHash)}`)
  }
  for (const what of recorded.unrecorded) output.words(`In no record yet: ${what}.`)
  if (!recorded.verified)
    output.words(
      `Not verified: the records of task ${taskId} are not what was recorded, or missing.`,
    )
}

const people = (needed: number | null | undefined): string =>
  needed === null || needed === undefined
    ? 'nobody: it cannot be done'
    : `${needed} ${needed === 1 ? 'person' : 'people'}`

function nextFor(deadLetter: DeadLetterCase): string {
  if (deadLetter.resolution !== null) return nextStep(`trace ${short(deadLetter.taskId)}`)
  const id = short(deadLetter.handoffId)
  const first =
    deadLetter.release?.needed === null ? `dlq ask ${id}` : `dlq release ${id} --as reviewer-1`
  return [first, `dlq redact ${id} --as reviewer-1`, `dlq discard ${id} --as reviewer-1`]
    .map(nextStep)
    .join('   ·   ')
}

interface Cluster {
  readonly cluster: string
  readonly count: number
  readonly oldestAt: string
  readonly exampleId: string
}

export async function deadLetterClusters(context: Context, flags: PageFlags): Promise<ExitCode> {
  const { output } = context
  const asked = { path: '/v2/dead-letters/clusters', name: 'clusters', filter: {}, flags }
  const listed = await withReadingGateway(context, (gateway) => readPages<Cluster>(gateway, asked))
  const clusters = listed.rows
  if (output.json) output.data(JSON.stringify(clusters))
  else if (clusters.length > 0)
    output.data(
      renderTable(
        [
          { title: 'COUNT', align: 'right' },
          { title: 'OLDEST (UTC)' },
          { title: 'EXAMPLE' },
          { title: 'CLUSTER' },
        ],
        clusters.map((one) => [
          count(one.count),
          instant(one.oldestAt),
          short(one.exampleId),
          one.cluster,
        ]),
      ),
    )
  const [first] = clusters
  if (first === undefined) output.words('Nothing waits for a person.')
  sayShown(output, listed, `dlq clusters${typedAgain({ limit: flags.limit })}`)
  if (first !== undefined) output.next(nextStep(`dlq dry-run --cluster ${quoted(first.cluster)}`))
  return EXIT.fine
}
