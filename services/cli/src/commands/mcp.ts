// `mcp`: Baton as tools of a model on this machine, over standard input and output, for the person who runs it.
import { approvalDecision } from '@baton/engine'
import { serveMcpOverStdio } from '@baton/gateway/mcp'
import type { Signable, ToSign } from '@baton/gateway/mcp'
import { parseNeeded } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { signNeeded } from '../decide-signed.ts'
import type { Meant } from '../decide-signed.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import type { DeadLetterCase } from './find-dead-letter.ts'
import { meantBy } from './review.ts'
import type { DecisionBody } from './review.ts'

/** Until the client closes standard input. */
export async function mcp(context: Context): Promise<ExitCode> {
  return withGateway(context, async (gateway) => {
    // A client shows what a server said before it ended; an answer to each message, that there is nobody, it shows to a model.
    await gateway.get('/healthz')
    context.output.words(`MCP over standard input and output, for the gateway at ${gateway.url}`)
    await serveMcpOverStdio(
      {
        post: (body, headers) => gateway.json('/mcp', { body, headers }),
        prepare: (asked) => prepare(gateway, asked),
        input: process.stdin,
        output: process.stdout,
      },
      context.interrupt,
    )
    return EXIT.fine
  })
}

/** What the arguments of a tool mean, signed only where the gateway asks for exactly that. */
async function prepare(gateway: GatewayClient, { tool, args, needed }: ToSign): Promise<Signable> {
  const decision = parseNeeded(needed)
  if (decision === undefined) throw UNREADABLE
  const { words, meant } = await meaningOf(gateway, tool, args)
  return {
    words: `As ${decision.person}: ${words}`,
    sign: () => signNeeded(gateway.personKey, { needed: decision, meant }),
  }
}

interface Meaning {
  readonly words: string
  readonly meant: Meant
}

interface Handoff {
  readonly handoffId: string
  readonly taskId: string
  readonly fromAgent: string
  readonly toAgent: string
  readonly sha256: string
}

const DEAD_LETTERS = {
  release_dead_letter: 'release',
  redact_dead_letter: 'redact',
  discard_dead_letter: 'discard',
} as const

async function meaningOf(
  gateway: GatewayClient,
  tool: string,
  args: ToSign['args'],
): Promise<Meaning> {
  const { handoffId, ...body } = args as { readonly handoffId: string }
  const id = encodeURIComponent(handoffId)
  if (tool === 'decide_approval') {
    const handoff = await gateway.get<Handoff>(`/v2/handoffs/${id}`)
    const { decision, reasonCode = null } = body as {
      readonly decision: 'approve' | 'reject'
      readonly reasonCode?: string
    }
    const asked = { decision, sha256: handoff.sha256, reasonCode }
    return {
      words: `${decision} ${describe(handoff)}${reasonCode === null ? '' : `, for ${reasonCode}`}`,
      meant: approvalDecision({ ...handoff, person: '' }, asked),
    }
  }
  const action = DEAD_LETTERS[tool as keyof typeof DEAD_LETTERS]
  if (action === undefined) throw UNREADABLE
  const letter = await gateway.get<DeadLetterCase>(`/v2/dead-letters/${id}`)
  const decision = action === 'redact' ? { action, at: [] } : { action }
  return {
    words: `${action} the dead letter ${describe(letter)}, stopped for ${letter.reason}${detailOf(body)}`,
    meant: meantBy(letter, decision, body),
  }
}

const describe = ({ handoffId, taskId, fromAgent, toAgent, sha256 }: Handoff): string =>
  `${handoffId} of task ${taskId}, ${fromAgent} → ${toAgent}, whose bytes have the SHA-256 ${sha256}`

function detailOf({ redactions, proposal, validHours }: DecisionBody): string {
  if (validHours !== undefined) return `, valid for ${validHours} hours`
  if (proposal !== undefined) return `, as proposal ${proposal} says`
  const places = redactions?.map(({ pointer }) => pointer) ?? []
  return places.length === 0 ? '' : `, without ${places.join(', ')}`
}

const UNREADABLE = permanent(
  'BATON_DECISION_DIFFERS',
  'the gateway asks for a signature under something that this version does not know',
  { fix: 'Use the same version of Baton as the gateway.' },
)
