// `subscriptions`: webhooks that are told of events, how that goes, and what their consumers did not take.
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { count, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { clip, renderTable } from '../terminal/table.ts'
import { readPages, sayShown } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'
import { wholeId } from './whole-id.ts'

interface Subscription {
  readonly subscriptionId: string
  readonly name: string
  readonly url: string
  readonly mode: string
  readonly filters: readonly object[]
  readonly state: string
  readonly reason: string | null
  readonly failures: number
  readonly nextAt: string | null
  readonly delivered: number
  readonly deliveredAt: string | null
  readonly lastError: string | null
  readonly earlierSecretUntil: string | null
  readonly waiting: number
  readonly deadLetters: number
}

const PATH = '/v2/event-subscriptions'

export async function listSubscriptions(context: Context, flags: PageFlags): Promise<ExitCode> {
  const { output } = context
  const listed = await withGateway(context, (gateway) =>
    readPages<Subscription>(gateway, { path: PATH, name: 'subscriptions', filter: {}, flags }),
  )
  const { rows } = listed
  if (output.json) output.data(JSON.stringify(rows))
  else if (rows.length > 0) output.data(table(rows))
  const [first] = rows
  if (first === undefined) output.words('Nobody is told of events.')
  sayShown(output, listed, 'subscriptions')
  output.next(
    nextStep(
      first === undefined
        ? 'subscriptions create NAME --url https://…'
        : `subscriptions show ${first.name}`,
    ),
  )
  return EXIT.fine
}

const table = (rows: readonly Subscription[]): string =>
  renderTable(
    [
      { title: 'NAME' },
      { title: 'STATE' },
      { title: 'URL', widthMax: 48, dropAt: 1 },
      { title: 'DELIVERED', align: 'right' },
      { title: 'WAITING', align: 'right' },
      { title: 'GIVEN UP', align: 'right' },
      { title: 'NEWEST ERROR', dropAt: 2 },
    ],
    rows.map((one) => [
      one.name,
      stateOf(one),
      one.url,
      count(one.delivered),
      count(one.waiting),
      count(one.deadLetters),
      one.lastError ?? '',
    ]),
  )

const stateOf = ({ state, reason, failures }: Subscription): string => {
  if (reason !== null) return `${state} ${reason}`
  return state === 'active' && failures > 2 ? 'away' : state
}

interface Making {
  readonly name: string
  readonly url: string
  readonly binary?: boolean | undefined
  readonly type?: string | undefined
  readonly filters?: string | undefined
}

export async function makeSubscription(context: Context, making: Making): Promise<ExitCode> {
  const { name, url, binary, type, filters } = making
  const made = await withGateway(context, (gateway) =>
    gateway.post<Subscription & { readonly secret: string }>(PATH, {
      name,
      url,
      mode: binary === true ? 'binary' : 'structured',
      filters: [...typeFilters(type), ...readFilters(filters)],
    }),
  )
  showSecret(context, made)
  context.output.next(nextStep(`subscriptions test ${made.name}`))
  return EXIT.fine
}

function showSecret(
  { output }: Context,
  made: Subscription & { readonly secret: string | null },
): void {
  if (output.json) output.data(JSON.stringify(made))
  else output.data(made.secret ?? '')
  output.words(`The secret of ${made.name} is shown this once: its consumer verifies with it.`)
  if (made.earlierSecretUntil !== null)
    output.words(`The one of before signs beside it until ${instant(made.earlierSecretUntil)} UTC.`)
}

const typeFilters = (types: string | undefined): readonly object[] =>
  types === undefined
    ? []
    : [
        {
          any: types
            .split(',')
            .map((type) =>
              type.endsWith('*') ? { prefix: { type: type.slice(0, -1) } } : { exact: { type } },
            ),
        },
      ]

function readFilters(text: string | undefined): readonly object[] {
  if (text === undefined) return []
  try {
    const filters: unknown = JSON.parse(text)
    if (Array.isArray(filters)) return filters as readonly object[]
  } catch {
    // Said below.
  }
  throw permanent('BATON_USAGE', '--filters is no JSON list', {
    fix: `Give one such as '[{"prefix":{"type":"baton.alert."}}]'.`,
  })
}

export async function showSubscription(context: Context, which: string): Promise<ExitCode> {
  const { output } = context
  const one = await withGateway(context, (gateway) => find(gateway, which))
  if (output.json) output.data(JSON.stringify(one))
  else for (const line of linesOf(one)) output.data(line)
  output.next(nextFor(one))
  return EXIT.fine
}

export function linesOf(one: Subscription): readonly string[] {
  const away = one.nextAt === null ? '' : `; tried again at ${instant(one.nextAt)} UTC`
  return [
    clip(`Subscription ${one.name}, ${stateOf(one)}, ${one.subscriptionId}`),
    clip(`${one.url}, ${one.mode}`),
    clip(`told of ${one.filters.length === 0 ? 'everything' : JSON.stringify(one.filters)}`),
    `${count(one.delivered)} delivered, ${count(one.waiting)} wait, ${count(one.deadLetters)} were given up`,
    ...(one.lastError === null ? [] : [`newest error ${one.lastError}${away}`]),
  ]
}

function nextFor({ name, state, deadLetters, waiting }: Subscription): string {
  if (deadLetters > 0) return nextStep(`subscriptions deliveries ${name} --state dead`)
  if (state !== 'active') return nextStep(`subscriptions resume ${name}`)
  return nextStep(waiting > 0 ? `subscriptions deliveries ${name}` : `subscriptions test ${name}`)
}

export async function actOn(
  context: Context,
  { which, act }: { readonly which: string; readonly act: 'pause' | 'resume' | 'test' | 'delete' },
): Promise<ExitCode> {
  const { output } = context
  const [name, answer] = await withGateway(context, async (gateway) => {
    const one = await find(gateway, which)
    const path = `${PATH}/${one.subscriptionId}`
    return [
      one.name,
      await (act === 'delete'
        ? gateway.delete<object>(path)
        : gateway.post<object>(`${path}/${act}`)),
    ] as const
  })
  if (output.json) output.data(JSON.stringify(answer))
  output.words(clip(`${DONE[act]} ${name}.`))
  output.next(nextStep(act === 'delete' ? 'subscriptions' : `subscriptions show ${name}`))
  return EXIT.fine
}

const DONE = {
  pause: 'Paused',
  resume: 'Resumed',
  test: 'A test is on its way to',
  delete: 'Deleted',
}

export async function rotateSecret(
  context: Context,
  { which, overlapHours }: { readonly which: string; readonly overlapHours: number },
): Promise<ExitCode> {
  const made = await withGateway(context, async (gateway) =>
    gateway.post<Subscription & { readonly secret: string }>(
      `${PATH}/${(await find(gateway, which)).subscriptionId}/rotate`,
      { overlapHours },
    ),
  )
  showSecret(context, made)
  context.output.next(nextStep(`subscriptions test ${made.name}`))
  return EXIT.fine
}

interface Replaying {
  readonly which: string
  readonly since?: number | undefined
  readonly after?: string | undefined
}

export async function replay(
  context: Context,
  { which, since, after }: Replaying,
): Promise<ExitCode> {
  if ((since === undefined) === (after === undefined))
    throw permanent('BATON_USAGE', 'either --since or --after says from where', {
      fix: 'Give one of them: --since 12h, or --after with the id of an event.',
    })
  const from =
    since === undefined ? { after } : { since: new Date(Date.now() - since).toISOString() }
  const one = await withGateway(context, async (gateway) =>
    gateway.post<Subscription>(
      `${PATH}/${(await find(gateway, which)).subscriptionId}/replay`,
      from,
    ),
  )
  const { output } = context
  if (output.json) output.data(JSON.stringify(one))
  output.words(clip(`${one.name} is told again, under the same ids.`))
  output.next(nextStep(`subscriptions show ${one.name}`))
  return EXIT.fine
}

interface Delivery {
  readonly eventId: string
  readonly state: string
  readonly attempts: number
  readonly nextAt: string | null
  readonly lastError: string | null
  readonly event: { readonly type: string; readonly subject: string } | null
}

interface Listing {
  readonly which: string
  readonly state?: string | undefined
  readonly flags: PageFlags
}

export async function listDeliveries(
  context: Context,
  { which, state, flags }: Listing,
): Promise<ExitCode> {
  const { output } = context
  const [name, listed] = await withGateway(context, async (gateway) => {
    const one = await find(gateway, which)
    const path = `${PATH}/${one.subscriptionId}/deliveries`
    const asked = { path, name: 'deliveries', filter: { state }, flags }
    return [one.name, await readPages<Delivery>(gateway, asked)] as const
  })
  const { rows } = listed
  if (output.json) output.data(JSON.stringify(rows))
  else if (rows.length > 0) output.data(deliveryTable(rows))
  if (rows.length === 0) output.words('Every event was taken at the first try.')
  const typed = state === undefined ? '' : ` --state ${state}`
  sayShown(output, listed, `subscriptions deliveries ${name}${typed}`)
  const isDead = rows.some((row) => row.state === 'dead')
  output.next(nextStep(isDead ? `subscriptions redrive ${name}` : `subscriptions show ${name}`))
  return EXIT.fine
}

const deliveryTable = (rows: readonly Delivery[]): string =>
  renderTable(
    [
      { title: 'EVENT' },
      { title: 'TYPE' },
      { title: 'SUBJECT', dropAt: 1 },
      { title: 'STATE' },
      { title: 'TRIES', align: 'right' },
      { title: 'NEXT (UTC)', dropAt: 2 },
      { title: 'ERROR' },
    ],
    rows.map((row) => [
      row.eventId,
      row.event?.type ?? '',
      short(row.event?.subject ?? ''),
      row.state,
      count(row.attempts),
      row.nextAt === null ? '' : instant(row.nextAt),
      row.lastError ?? '',
    ]),
  )

export async function redrive(
  context: Context,
  { which, eventIds }: { readonly which: string; readonly eventIds: readonly string[] },
): Promise<ExitCode> {
  const { output } = context
  const [name, answer] = await withGateway(context, async (gateway) => {
    const one = await find(gateway, which)
    const body = eventIds.length === 0 ? {} : { eventIds }
    const path = `${PATH}/${one.subscriptionId}/redrive`
    return [one.name, await gateway.post<{ readonly redriven: number }>(path, body)] as const
  })
  if (output.json) output.data(JSON.stringify(answer))
  output.words(`${count(answer.redriven)} are tried again.`)
  output.next(nextStep(`subscriptions show ${name}`))
  return EXIT.fine
}

const LISTED_MAX = 1_000

/** By name, or by an id. */
async function find(gateway: GatewayClient, which: string): Promise<Subscription> {
  const { subscriptions } = await gateway.get<{ readonly subscriptions: readonly Subscription[] }>(
    `${PATH}?limit=${LISTED_MAX}`,
  )
  const named = subscriptions.find(({ name }) => name === which)
  if (named !== undefined) return named
  const id = wholeId(which, {
    ids: subscriptions.map(({ subscriptionId }) => [subscriptionId]),
    what: 'subscription',
    code: 'BATON_SUBSCRIPTION_UNKNOWN',
    command: 'subscriptions',
  })
  return gateway.get<Subscription>(`${PATH}/${id}`)
}
