// `send`: one handoff from the command line, durable at once, and by default watched until its task has ended.
import { SIGNING_SETTINGS } from '@baton/engine'
import { ANY_AGENT } from '@baton/protocol'
import { BatonError, permanent, readSettings } from '@baton/runtime'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { Sent } from '@baton/sdk'
import { findLiveTypes } from '@baton/store'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { withDatabases } from '../instance/databases.ts'
import type { ReadableDatabases } from '../instance/databases.ts'
import type { QueueChoice } from '../instance/queue.ts'
import { dollars, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { readAgentState } from './agent-state.ts'
import type { StateFlags } from './agent-state.ts'
import type { WholeTask } from './find-task.ts'
import { readPages } from './list-pages.ts'
import { describeEnd, runOneTask } from './run-one-task.ts'
import type { EndedTask, Submission } from './run-one-task.ts'

interface SendOptions extends StateFlags {
  readonly to: string
  readonly constraint: readonly string[]
  readonly wait: boolean
  readonly mode: 'async' | 'sync'
  /** Seconds. */
  readonly timeout: number
  readonly queue: QueueChoice
}

export async function send(context: Context, options: SendOptions): Promise<ExitCode> {
  const agentState = await readAgentState(options)
  const constraints = { list: options.constraint }
  const submission = { agentState, targetAgentType: options.to, constraints }
  const direct = options.mode === 'sync'
  if (!options.wait && direct) throw WAITS
  if (!options.wait) return commitOnly(context, submission)
  const timeoutMs = options.timeout * 1_000
  const ended = await runOneTask(context, submission, { queue: options.queue, timeoutMs, direct })
  print(context, ended)
  return ended.task.status === 'COMPLETED' ? EXIT.fine : EXIT.failure
}

const WAITS = permanent('BATON_USAGE', '--mode sync waits for the outcome', {
  fix: 'Leave out --no-wait, or --mode sync.',
})

async function commitOnly(context: Context, submission: Submission): Promise<ExitCode> {
  const { output, settings } = context
  const { targetAgentType: to } = submission
  const { sent, isLive } =
    settings.BATON_GATEWAY_URL === undefined
      ? await withDatabases(context, async ({ databases, pool }) => ({
          sent: await commit(databases, submission),
          isLive: (await findLiveTypes(pool, [to])).has(to),
        }))
      : await withGateway(context, async (gateway) => ({
          sent: await gateway.post<Sent>('/v2/handoffs', submission),
          isLive: await isHosted(gateway, to),
        }))
  if (output.json) output.data(JSON.stringify(sent))
  else output.data(`Handoff ${sent.handoffId} of task ${sent.taskId} is ${sent.state}.`)
  if (!isLive && to !== ANY_AGENT)
    output.words(
      `No live worker has the agent type ${to} now: it waits until one has. ${nextStep('agents')} lists those there are.`,
    )
  output.next(`it is delivered while services run: ${nextStep('up')}`)
  return EXIT.fine
}

/** True also where the key may not ask. */
async function isHosted(gateway: GatewayClient, to: string): Promise<boolean> {
  const flags = { limit: 1, all: true }
  try {
    const asked = { path: '/v2/agents', name: 'agents', filter: {}, flags }
    const { rows } = await readPages<{ readonly type: string }>(gateway, asked)
    return rows.some(({ type }) => type === to)
  } catch (error) {
    if (error instanceof BatonError && error.code === 'BATON_SCOPE_MISSING') return true
    throw error
  }
}

/** Into the databases of this home, where no service has to run for it. Throws BATON_SETTINGS_INVALID without signing keys. */
async function commit({ urls, secrets }: ReadableDatabases, submission: Submission): Promise<Sent> {
  const { BATON_SIGNING_KEYS: signingKeys } = secrets
  const given = readSettings(SIGNING_SETTINGS, { BATON_SIGNING_KEYS: signingKeys })
  const sender = createSender({
    databaseUrl: urls.gateway,
    keyRing: parseSigningKeys(given.BATON_SIGNING_KEYS),
    connectionsMax: 1,
    operator: 'operator',
  })
  const { agentState, targetAgentType, constraints } = submission
  try {
    return await sender.send(agentState, targetAgentType, constraints)
  } finally {
    await sender.close()
  }
}

function print({ output }: Context, ended: EndedTask): void {
  const { task, handoffs, deliveredBy } = ended
  if (output.json) output.data(JSON.stringify({ ...task, handoffs, deliveredBy }))
  else output.data(table(handoffs))
  if (deliveredBy !== undefined) output.step('passed', 'delivered', wayOf(deliveredBy))
  if (task.status === 'COMPLETED')
    output.step('passed', 'completed', `for ${dollars(task.spentMicroUSD)}`)
  else output.words(describeEnd(ended).text)
  output.next(nextStep(`trace ${short(task.taskId)}`))
}

const wayOf = (deliveredBy: 'http' | 'queue' | null): string =>
  deliveredBy === null
    ? 'earlier'
    : { http: 'by a direct call', queue: 'by the queue: the direct call was late or failed' }[
        deliveredBy
      ]

const table = (handoffs: WholeTask['handoffs']): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'FROM → TO', widthMax: 44 },
      { title: 'STATE' },
      { title: 'REASON' },
    ],
    handoffs.map((handoff) => [
      handoff.handoffId,
      `${handoff.fromAgent} → ${handoff.toAgent}`,
      handoff.state,
      handoff.reason ?? '',
    ]),
  )
