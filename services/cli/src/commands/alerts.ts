// `alerts`: what somebody should hear of, who looks after it, and whether its webhooks answer; decided under the person's name.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway, withReadingGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { count, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { clip, renderTable } from '../terminal/table.ts'
import { follow } from './follow.ts'
import type { Selection } from './handle-many.ts'
import { readPages, sayShown } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'
import { wholeId } from './whole-id.ts'

interface Alert {
  readonly alertId: string
  readonly kind: string
  readonly severity: 'page' | 'ticket'
  readonly reason: string
  readonly subject: Readonly<Record<string, string>>
  readonly state: 'open' | 'acknowledged' | 'closed'
  readonly occurrences: number
  readonly escalations: number
  readonly handoffIds: readonly string[]
  readonly firstAt: string
  readonly lastAt: string
  readonly acknowledgedBy: string | null
  readonly closedBy: string | null
  readonly closedWhy: string | null
}

interface AlertWithHistory extends Alert {
  readonly history: readonly {
    readonly change: string
    readonly at: string
    readonly occurrences: number
    readonly actor: string | null
    readonly why: string | null
  }[]
}

export interface ListOptions {
  readonly filter: Selection & { readonly state?: string | undefined }
  readonly flags: PageFlags
  /** The filter as it was typed, and the limit. */
  readonly typed: string
}

export async function listAlerts(context: Context, options: ListOptions): Promise<ExitCode> {
  const { output } = context
  const { filter, flags, typed } = options
  const listed = await withReadingGateway(context, (gateway) =>
    readPages<Alert>(gateway, { path: '/v2/alerts', name: 'alerts', filter: { ...filter }, flags }),
  )
  const alerts = listed.rows
  if (output.json) output.data(JSON.stringify(alerts))
  else if (alerts.length > 0) output.data(table(alerts))
  const [first] = alerts
  if (first === undefined) output.words('There is no such alert.')
  sayShown(output, listed, `alerts${typed}`)
  output.next(nextStep(first === undefined ? 'escalations' : `alerts show ${short(first.alertId)}`))
  return EXIT.fine
}

const table = (alerts: readonly Alert[]): string =>
  renderTable(
    [
      { title: 'ALERT' },
      { title: 'TOLD AS', dropAt: 4 },
      { title: 'STATE' },
      { title: 'KIND' },
      { title: 'REASON', dropAt: 1 },
      { title: 'ABOUT', widthMax: 44 },
      { title: 'TIMES', align: 'right', dropAt: 2 },
      { title: 'LAST (UTC)', dropAt: 3 },
    ],
    alerts.map((alert) => [
      short(alert.alertId),
      alert.severity,
      alert.acknowledgedBy === null ? alert.state : `${alert.state} ${alert.acknowledgedBy}`,
      alert.kind,
      alert.reason,
      aboutOf(alert),
      count(alert.occurrences),
      instant(alert.lastAt),
    ]),
  )

/** A pair of agents as everywhere; whatever else it is about behind it. */
function aboutOf({ subject }: Alert): string {
  const { fromAgent, toAgent, ...others } = subject
  const pair = fromAgent === undefined ? [] : [`${fromAgent} → ${toAgent ?? ''}`]
  return [...pair, ...Object.entries(others).map(([name, value]) => `${name} ${value}`)].join(', ')
}

export async function showAlert(context: Context, id: string): Promise<ExitCode> {
  const { output } = context
  const alert = await withReadingGateway(context, async (gateway) =>
    gateway.get<AlertWithHistory>(`/v2/alerts/${await alertIdOf(gateway, id)}`),
  )
  if (output.json) output.data(JSON.stringify(alert))
  else for (const line of alertLines(alert)) output.data(line)
  output.next(nextFor(alert))
  return EXIT.fine
}

/** Names are a sender's words: nothing in them moves the cursor or turns the text. */
export function alertLines(alert: AlertWithHistory): readonly string[] {
  const { occurrences, escalations } = alert
  const waiting =
    escalations === 0 ? '' : `, ${count(escalations)} left a task waiting for a person`
  return [
    `Alert ${alert.alertId}, ${alert.state}, ${alert.severity}`,
    clip(`${alert.kind} ${alert.reason}: ${aboutOf(alert)}`),
    `${count(occurrences)} times from ${instant(alert.firstAt)} to ${instant(alert.lastAt)} UTC${waiting}`,
    '',
    renderTable(
      [
        { title: 'WHEN (UTC)' },
        { title: 'WHAT' },
        { title: 'TIMES', align: 'right' },
        { title: 'WHO' },
        { title: 'WHY', widthMax: 60 },
      ],
      alert.history.map((one) => [
        instant(one.at),
        one.change,
        count(one.occurrences),
        one.actor ?? '',
        one.why ?? '',
      ]),
    ),
    '',
    ...alert.handoffIds.map((handoffId) => `handoff ${handoffId}`),
  ]
}

function nextFor({ alertId, state }: Alert): string {
  const id = short(alertId)
  if (state === 'closed') return nextStep('alerts')
  const close = nextStep(`alerts close ${id} --why '…'`)
  return state === 'open' ? `${nextStep(`alerts ack ${id}`)}   ·   ${close}` : close
}

interface Handled extends Alert {
  readonly repeated: boolean
}

export async function acknowledgeAlert(context: Context, id: string): Promise<ExitCode> {
  const { output } = context
  const alert = await withGateway(context, async (gateway) =>
    gateway.post<Handled>(`/v2/alerts/${await alertIdOf(gateway, id)}/acknowledge`),
  )
  if (output.json) output.data(JSON.stringify(alert))
  const before = alert.repeated ? ' before' : ''
  output.words(clip(`Acknowledged${before} by ${alert.acknowledgedBy ?? ''}.`))
  output.next(nextFor(alert))
  return EXIT.fine
}

export async function closeAlert(
  context: Context,
  { id, why }: { readonly id: string; readonly why: string },
): Promise<ExitCode> {
  const { output } = context
  const alert = await withGateway(context, async (gateway) =>
    gateway.post<Handled>(`/v2/alerts/${await alertIdOf(gateway, id)}/close`, { why }),
  )
  if (output.json) output.data(JSON.stringify(alert))
  output.words(clip(`Closed${alert.repeated ? ' before' : ''} by ${alert.closedBy ?? ''}.`))
  output.next(nextStep('alerts'))
  return EXIT.fine
}

const LOOKED_AT_MAX = 1_000

async function alertIdOf(gateway: GatewayClient, text: string): Promise<string> {
  const { alerts } = await gateway.get<{ alerts: readonly Alert[] }>(
    `/v2/alerts?limit=${LOOKED_AT_MAX}`,
  )
  return wholeId(text, {
    ids: alerts.map(({ alertId }) => [alertId]),
    what: 'alert',
    code: 'BATON_ALERT_UNKNOWN',
    command: 'alerts',
  })
}

interface WebhookTest {
  readonly testId: string
  readonly isPlanned: boolean
  readonly webhooks: readonly {
    readonly webhook: string
    readonly state: 'waiting' | 'delivered' | 'failed'
    readonly attempts: number
    readonly lastError: string | null
  }[]
}

/** Longer than a call may take and whoever delivers needs to take it up. */
const TEST_WAIT_MS = 15_000
const TEST_EVERY_MS = 250

/** Ends with failure unless there are webhooks and each has the test. */
export async function testWebhooks(context: Context): Promise<ExitCode> {
  const { output } = context
  const test = await withGateway(context, async (gateway) => {
    const { testId } = await gateway.post<WebhookTest>('/v2/alerts/tests')
    return follow(context, {
      look: () => gateway.get<WebhookTest>(`/v2/alerts/tests/${testId}`),
      ended: ({ isPlanned, webhooks }) =>
        isPlanned && webhooks.every(({ state }) => state !== 'waiting'),
      waitMs: TEST_WAIT_MS,
      everyMs: TEST_EVERY_MS,
      progress: (_, seconds) => `waiting for the webhooks, ${seconds} s`,
    })
  })
  if (output.json) output.data(JSON.stringify(test))
  for (const { webhook, state, lastError } of test.webhooks)
    output.check(state === 'delivered' ? 'passed' : 'failed', webhook, lastError ?? state)
  if (test.webhooks.length === 0)
    output.words('No process delivers to a webhook: set BATON_ALERT_WEBHOOKS for those that sweep.')
  output.next(nextStep('alerts'))
  const isFine = test.webhooks.length > 0 && test.webhooks.every((one) => one.state === 'delivered')
  return isFine ? EXIT.fine : EXIT.failure
}
