// `dlq dry-run` and `dlq redrive`: what would become of dead letters now, and sending back those that would pass.
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { count, counted, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { findDeadLetter } from './find-dead-letter.ts'
import { follow } from './follow.ts'

interface Selection {
  readonly deadLetters: readonly string[]
  readonly cluster?: string | undefined
}

interface DryRun {
  /** How many were meant. */
  readonly total: number
  readonly totalIsExact: boolean
  readonly wouldPass: number
  readonly letters: readonly {
    readonly handoffId: string
    readonly wouldPass: boolean
    readonly reason: string | null
    readonly agents: readonly string[] | 'unknown'
  }[]
}

export async function dryRunDeadLetters(context: Context, selection: Selection): Promise<ExitCode> {
  const { output } = context
  const tried = await withGateway(context, async (gateway) =>
    gateway.post<DryRun>('/v2/dead-letters/dry-run', await selected(gateway, selection)),
  )
  if (output.json) output.data(JSON.stringify(tried))
  else if (tried.letters.length > 0) output.data(table(tried))
  output.words(
    `${tried.wouldPass} of ${counted(tried.letters.length, 'dead letter')} would pass now.`,
  )
  if (tried.total > tried.letters.length)
    output.words(
      `The oldest ${count(tried.letters.length)} of ${tried.totalIsExact ? '' : 'more than '}${count(tried.total)} were judged; a cluster goes back in parts.`,
    )
  const passing = tried.letters.find(({ wouldPass }) => wouldPass)
  const { cluster, deadLetters } = selection
  if (passing !== undefined)
    output.next(
      nextStep(`dlq redrive ${cluster === undefined ? deadLetters.join(' ') : quoted(cluster)}`),
    )
  else output.next(nextStep(`dlq show ${short(tried.letters[0]?.handoffId ?? '')}`))
  return EXIT.fine
}

const quoted = (cluster: string): string =>
  `--cluster '${cluster.replaceAll("'", String.raw`'\''`)}'`

const table = ({ letters }: DryRun): string =>
  renderTable(
    [{ title: 'HANDOFF' }, { title: 'WOULD' }, { title: 'REASON' }, { title: 'LIVE AGENTS' }],
    letters.map(({ handoffId, wouldPass, reason, agents }) => [
      handoffId,
      wouldPass ? 'pass' : 'stay',
      reason ?? '',
      typeof agents === 'string' ? agents : agents.join(', '),
    ]),
  )

async function selected(
  gateway: GatewayClient,
  { deadLetters, cluster }: Selection,
): Promise<object> {
  if (cluster !== undefined && deadLetters.length === 0) return { cluster }
  if (cluster === undefined && deadLetters.length > 0) {
    const found = await Promise.all(
      deadLetters.map((deadLetter) => findDeadLetter(gateway, deadLetter)),
    )
    return { handoffIds: found.map(({ handoffId }) => handoffId) }
  }
  throw permanent('BATON_USAGE', 'either dead letters or --cluster says which are meant', {
    fix: `\`${nextStep('dlq clusters')}\` lists clusters, \`${nextStep('dlq ls')}\` dead letters.`,
  })
}

interface Redrive {
  readonly redriveId: string
  readonly state: string
  readonly why: { readonly code: string; readonly handoffId?: string } | null
  readonly waiting: number
  readonly driven: number
  readonly skipped: number
  readonly completed: number
  readonly endedAt: string | null
  readonly leftOut?: readonly { readonly handoffId: string; readonly reason: string }[]
}

interface RedriveOptions extends Selection {
  readonly rate?: number | undefined
  readonly wait: boolean
}

const WAIT_MS = 120_000
const LOOK_EVERY_MS = 500

/** Follows it for two minutes at most; it goes on in Postgres whether anybody follows or not. */
export async function redriveDeadLetters(
  context: Context,
  options: RedriveOptions,
): Promise<ExitCode> {
  return withGateway(context, async (gateway) => {
    const which = await selected(gateway, options)
    const rate = options.rate === undefined ? {} : { ratePerSecond: options.rate }
    const begun = await gateway.post<Redrive>('/v2/dead-letters/redrive', { ...which, ...rate })
    const leftOut = begun.leftOut ?? []
    for (const { handoffId, reason } of leftOut)
      context.output.words(`${handoffId} stays: ${reason}`)
    const seen = options.wait ? await untilEnded(context, gateway, begun) : begun
    return tell(context, { ...seen, leftOut })
  })
}

/** How a re-drive stands; `stop` ends it first. */
export async function showRedrive(
  context: Context,
  { redriveId, stop }: { readonly redriveId: string; readonly stop: boolean },
): Promise<ExitCode> {
  const path = `/v2/dead-letters/redrives/${encodeURIComponent(redriveId)}`
  return withGateway(context, async (gateway) =>
    tell(context, stop ? await gateway.delete<Redrive>(path) : await gateway.get<Redrive>(path)),
  )
}

function tell({ output }: Context, redrive: Redrive): ExitCode {
  const { state, why, driven, completed, waiting, skipped } = redrive
  if (output.json) output.data(JSON.stringify(redrive))
  const because =
    why === null ? '' : ` (${why.code}${why.handoffId === undefined ? '' : ` ${why.handoffId}`})`
  const counts = `${driven} sent back, ${completed} completed, ${waiting} waiting, ${skipped} left`
  output.words(`Re-drive ${redrive.redriveId} is ${state}${because}: ${counts}.`)
  if (redrive.endedAt === null) output.next(nextStep(`dlq redrive --show ${redrive.redriveId}`))
  else if (why?.handoffId === undefined) output.next(nextStep('dlq ls'))
  else output.next(nextStep(`dlq show ${why.handoffId}`))
  return state === 'STOPPED' ? EXIT.failure : EXIT.fine
}

const untilEnded = (
  context: Context,
  gateway: GatewayClient,
  { redriveId }: Redrive,
): Promise<Redrive> =>
  follow(context, {
    look: () => gateway.get<Redrive>(`/v2/dead-letters/redrives/${redriveId}`),
    ended: ({ endedAt, completed, driven, state }) =>
      (endedAt !== null && completed >= driven) || state === 'STOPPED' || state === 'CANCELED',
    waitMs: WAIT_MS,
    everyMs: LOOK_EVERY_MS,
    progress: ({ state, driven, completed }) =>
      `${state}: ${driven} sent back, ${completed} completed`,
  })
