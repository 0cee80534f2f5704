// `escalations`: tasks that wait for a person, and who looks after one; decided under the person's name.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway, withReadingGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { count, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { clip, renderTable } from '../terminal/table.ts'
import type { ListOptions } from './alerts.ts'
import { readPages, sayShown } from './list-pages.ts'
import { wholeId } from './whole-id.ts'

interface Escalation {
  readonly handoffId: string
  readonly taskId: string
  readonly attempts: number
  readonly reason: string
  readonly state: 'open' | 'acknowledged' | 'resolved'
  readonly createdAt: string
  readonly acknowledgedBy: string | null
  readonly resolvedBy: string | null
}

export async function listEscalations(context: Context, options: ListOptions): Promise<ExitCode> {
  const { output } = context
  const { filter, flags, typed } = options
  const asked = { path: '/v2/escalations', name: 'escalations', filter: { ...filter }, flags }
  const listed = await withReadingGateway(context, (gateway) =>
    readPages<Escalation>(gateway, asked),
  )
  const escalations = listed.rows
  if (output.json) output.data(JSON.stringify(escalations))
  else if (escalations.length > 0) output.data(table(escalations))
  const [first] = escalations
  if (first === undefined) output.words('No task waits for a person so.')
  sayShown(output, listed, `escalations${typed}`)
  output.next(first === undefined ? nextStep('tasks') : nextFor(first))
  return EXIT.fine
}

const table = (escalations: readonly Escalation[]): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'TASK', dropAt: 3 },
      { title: 'STATE' },
      { title: 'REASON', dropAt: 1 },
      { title: 'ATTEMPTS', align: 'right', dropAt: 4 },
      { title: 'SINCE (UTC)', dropAt: 2 },
    ],
    escalations.map((one) => [
      one.handoffId,
      short(one.taskId),
      [one.state, one.resolvedBy ?? one.acknowledgedBy ?? ''].join(' ').trim(),
      one.reason,
      count(one.attempts),
      instant(one.createdAt),
    ]),
  )

function nextFor({ handoffId, taskId, state }: Escalation): string {
  const task = nextStep(`trace ${short(taskId)}`)
  if (state === 'resolved') return task
  const steps = state === 'open' ? [`escalations ack ${short(handoffId)}`] : []
  return [...steps, `task resume ${short(taskId)}`].map(nextStep).join('   ·   ')
}

interface Handled extends Escalation {
  readonly repeated: boolean
}

export async function acknowledgeEscalation(context: Context, id: string): Promise<ExitCode> {
  const { output } = context
  const escalation = await withGateway(context, async (gateway) =>
    gateway.post<Handled>(`/v2/escalations/${await handoffIdOf(gateway, id)}/acknowledge`),
  )
  if (output.json) output.data(JSON.stringify(escalation))
  const before = escalation.repeated ? ' before' : ''
  output.words(clip(`Acknowledged${before} by ${escalation.acknowledgedBy ?? ''}.`))
  output.next(nextFor(escalation))
  return EXIT.fine
}

export async function resolveEscalation(
  context: Context,
  { id, why }: { readonly id: string; readonly why: string },
): Promise<ExitCode> {
  const { output } = context
  const escalation = await withGateway(context, async (gateway) =>
    gateway.post<Handled>(`/v2/escalations/${await handoffIdOf(gateway, id)}/resolve`, { why }),
  )
  if (output.json) output.data(JSON.stringify(escalation))
  const before = escalation.repeated ? ' before' : ''
  output.words(
    clip(`Resolved${before} by ${escalation.resolvedBy ?? ''}; the task stays as it is.`),
  )
  output.next(nextFor(escalation))
  return EXIT.fine
}

const LOOKED_AT_MAX = 1_000

async function handoffIdOf(gateway: GatewayClient, text: string): Promise<string> {
  const { escalations } = await gateway.get<{ escalations: readonly Escalation[] }>(
    `/v2/escalations?limit=${LOOKED_AT_MAX}`,
  )
  return wholeId(text, {
    ids: escalations.map(({ handoffId, taskId }) => [handoffId, taskId]),
    what: 'escalation',
    code: 'BATON_ESCALATION_UNKNOWN',
    command: 'escalations',
  })
}
