// `events`: what programs outside are told, as it was or as it comes.
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { clip } from '../terminal/table.ts'

export interface EventOptions {
  readonly type?: string | undefined
  readonly taskId?: string | undefined
  readonly fromAgent?: string | undefined
  readonly toAgent?: string | undefined
  readonly reason?: string | undefined
  readonly since?: number | undefined
  readonly after?: string | undefined
  readonly follow?: boolean | undefined
  readonly limit: number
}

export interface ToldEvent {
  readonly id: string
  readonly type: string
  readonly time: string
  readonly subject: string
  readonly fromagent?: string
  readonly toagent?: string
  readonly reason?: string
}

interface EventPage {
  readonly events: readonly ToldEvent[]
  readonly nextAfter: string | null
  readonly isMore: boolean
}

const LOOK_MS = 1_000
const HOUR_MS = 3_600_000
const PAGE_MAX = 200

/** With `--json` each is a line of its own while it follows, and a list otherwise. */
export async function showEvents(context: Context, options: EventOptions): Promise<ExitCode> {
  return withGateway(context, (gateway) =>
    options.follow === true
      ? followEvents(context, gateway, options)
      : listEvents(context, gateway, options),
  )
}

async function listEvents(
  { output }: Context,
  gateway: GatewayClient,
  options: EventOptions,
): Promise<ExitCode> {
  const begin = { since: options.since ?? 24 * HOUR_MS, after: options.after }
  const page = await readPage(gateway, options, { ...begin, limit: options.limit })
  if (output.json) output.data(JSON.stringify(page.events))
  else for (const one of page.events) output.data(eventLine(one))
  if (page.events.length === 0) output.words('There is no such event; from now on they are kept.')
  output.next(nextStep(page.isMore ? `events --after ${page.nextAfter ?? ''}` : 'events --follow'))
  return EXIT.fine
}

async function followEvents(
  { output, interrupt }: Context,
  gateway: GatewayClient,
  options: EventOptions,
): Promise<ExitCode> {
  const since = new Date(Date.now() - (options.since ?? 0))
  let { after } = options
  while (!interrupt.aborted) {
    const page = await readPage(gateway, options, { since, after, limit: PAGE_MAX })
    for (const one of page.events) output.data(output.json ? JSON.stringify(one) : eventLine(one))
    after = page.nextAfter ?? after
    if (!page.isMore) await delay(LOOK_MS, undefined, { signal: interrupt }).catch(() => undefined)
  }
  return EXIT.interrupted
}

interface Begin {
  readonly since: number | Date
  readonly after: string | undefined
  readonly limit: number
}

function readPage(
  gateway: GatewayClient,
  { type, taskId, fromAgent, toAgent, reason }: EventOptions,
  { since, after, limit }: Begin,
): Promise<EventPage> {
  const at = typeof since === 'number' ? new Date(Date.now() - since) : since
  const begin = after === undefined ? { since: at.toISOString() } : { after }
  const asked = { type, taskId, fromAgent, toAgent, reason, ...begin, limit: String(limit) }
  const given = Object.entries(asked).filter((one): one is [string, string] => one[1] !== undefined)
  return gateway.get<EventPage>(`/v2/events?${new URLSearchParams(given).toString()}`)
}

/** Names are a sender's words: nothing in them moves the cursor or turns the text. */
function eventLine({ id, time, type, subject, ...event }: ToldEvent): string {
  const pair = event.fromagent === undefined ? '' : `  ${event.fromagent} → ${event.toagent ?? ''}`
  const reason = event.reason === undefined ? '' : `  ${event.reason}`
  return clip(`${instant(time)}  ${short(id)}  ${type}  ${short(subject)}${pair}${reason}`)
}
