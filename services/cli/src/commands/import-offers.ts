// `import`: offers of protocol v0.1 become handoffs of Baton, and what became of them is written back.
import { importOffers, whileWatching } from '@baton/offers'
import type { BatonHandoff, Imported, ImportGateway, OfferStorage } from '@baton/offers'
import { kindOf } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { counted } from '../terminal/figures.ts'
import { describeError } from '../terminal/describe-error.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { withOffers } from './open-offers.ts'

interface ImportOptions {
  readonly watch: boolean
  /** The agent types to take offers for; those with a live worker where it is empty. */
  readonly agents: readonly string[]
  readonly budget: number
}

/** Between two looks while it watches, unless the folder says that something changed. */
const EVERY_MS = 1_000

export async function importFrom(context: Context, options: ImportOptions): Promise<ExitCode> {
  return withOffers(context, ({ offers, storage }) =>
    withGateway(context, async (gateway) => {
      const pass = async () => {
        const agentTypes = await agentTypesOf(gateway, options.agents)
        const budgetUSD = options.budget
        return importOffers({ offers, gateway: throughHttp(gateway), agentTypes, budgetUSD })
      }
      if (!options.watch) return reportOnce(context, await pass())
      await watchUntilStopped(context, storage, pass)
      return EXIT.fine
    }),
  )
}

interface LiveAgents {
  readonly agents: readonly { readonly type: string }[]
}

async function agentTypesOf(
  gateway: GatewayClient,
  named: readonly string[],
): Promise<ReadonlySet<string>> {
  if (named.length > 0) return new Set(named)
  const { agents } = await gateway.get<LiveAgents>('/v2/agents?limit=500')
  return new Set(agents.map(({ type }) => type))
}

/** What the message itself is refused for; anything else says nothing about the offer. */
const REFUSED_FOR_GOOD = [400, 413, 422]

const throughHttp = (gateway: GatewayClient): ImportGateway => ({
  async send(submission) {
    const { handoffId = '' } = submission.agentState
    try {
      await gateway.postOnce('/v2/handoffs', submission, handoffId)
      return {}
    } catch (error) {
      const { status, code } = error as { status?: number; code?: string }
      if (status === undefined || !REFUSED_FOR_GOOD.includes(status)) throw error
      return { refused: code ?? `HTTP_${status}` }
    }
  },
  find: (handoffId) => gateway.get<BatonHandoff>(`/v2/handoffs/${handoffId}`),
})

function reportOnce(context: Context, done: readonly Imported[]): ExitCode {
  const { output } = context
  if (output.json) output.data(JSON.stringify(done))
  else for (const one of done) output.data(lineOf(one))
  const sent = done.filter(({ kind }) => kind === 'sent').length
  output.words(`${counted(sent, 'offer')} sent, ${counted(done.length - sent, 'other change')}.`)
  output.next(nextStep('list'))
  return done.some(({ kind }) => kind === 'problem') ? EXIT.failure : EXIT.fine
}

const lineOf = ({ taskId, kind, handoffId, what }: Imported): string =>
  kind === 'sent'
    ? `${taskId} was sent to ${what} as handoff ${handoffId}`
    : `${taskId} ${kind === 'written' ? 'is' : 'was left alone:'} ${what}`

async function watchUntilStopped(
  { output, interrupt }: Context,
  storage: OfferStorage,
  pass: () => Promise<readonly Imported[]>,
): Promise<void> {
  let problems = ''
  output.words('Importing until Ctrl-C.')
  await whileWatching({ storage, everyMs: EVERY_MS, signal: interrupt }, async () => {
    const done = await pass().catch(orTellOutage)
    const changes = done.filter(({ kind }) => kind !== 'problem')
    for (const one of changes) output.data(output.json ? JSON.stringify(one) : lineOf(one))
    // What lasts is told once.
    const lasting = done
      .filter(({ kind }) => kind === 'problem')
      .map(lineOf)
      .join('\n')
    if (lasting !== problems && lasting !== '') output.words(lasting)
    problems = lasting
  })

  function orTellOutage(error: unknown): readonly Imported[] {
    if (kindOf(error) !== 'transient') throw error
    output.words(`${describeError(error).text}\n  It goes on by itself.`)
    return []
  }
}
