// `approvals`: handoffs held for a person, and the decision about one, made at the gateway under the person's name.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway, withReadingGateway } from '../gateway-client.ts'
import { instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { readPages, sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'
import { BRANCH_COLUMN } from './waiting-branches.ts'

interface Approval {
  readonly handoffId: string
  readonly taskId: string
  readonly fromAgent: string
  readonly toAgent: string
  readonly sentBy: string | null
  readonly priority: number
  readonly requestedAt: string
  readonly expiresAt: string | null
  /** Lower-case hex digest of the bytes that wait. */
  readonly sha256: string
  readonly branch: string | null
}

export async function listWaiting(context: Context, flags: PageFlags): Promise<ExitCode> {
  const { output } = context
  const asked = { path: '/v2/approvals', name: 'approvals', filter: {}, flags }
  const listed = await withReadingGateway(context, (gateway) => readPages<Approval>(gateway, asked))
  const approvals = listed.rows
  if (output.json) output.data(JSON.stringify(approvals))
  else if (approvals.length > 0) output.data(table(approvals))
  const [first] = approvals
  if (first === undefined) output.words('Nothing waits for an approval.')
  sayShown(output, listed, `approvals ls${typedAgain({ limit: flags.limit })}`)
  if (first !== undefined) output.next(nextStep(`approvals approve ${first.handoffId}`))
  return EXIT.fine
}

function table(approvals: readonly Approval[]): string {
  const branched = approvals.some(({ branch }) => branch !== null)
  return renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'TASK', dropAt: 1 },
      ...(branched ? [BRANCH_COLUMN] : []),
      { title: 'FROM → TO', widthMax: 44 },
      { title: 'SENT BY', widthMax: 20, dropAt: 6 },
      { title: 'PRIORITY', align: 'right', dropAt: 5 },
      { title: 'SINCE (UTC)', dropAt: 2 },
      { title: 'EXPIRES (UTC)', dropAt: 3 },
    ],
    approvals.map((one) => [
      one.handoffId,
      short(one.taskId),
      ...(branched ? [one.branch ?? ''] : []),
      `${one.fromAgent} → ${one.toAgent}`,
      one.sentBy ?? '',
      String(one.priority),
      instant(one.requestedAt),
      one.expiresAt === null ? '' : instant(one.expiresAt),
    ]),
  )
}

interface Decision {
  readonly handoffId: string
  readonly decision: 'approve' | 'reject'
  readonly reason?: string | undefined
}

interface Decided {
  readonly handoffId: string
  readonly taskId: string
  readonly state: string
  readonly decidedBy: string
  readonly repeated: boolean
}

export async function decide(
  context: Context,
  { handoffId, decision, reason }: Decision,
): Promise<ExitCode> {
  const { output } = context
  const body = { decision, ...(reason === undefined ? {} : { reasonCode: reason }) }
  const id = handoffId.trim().toLowerCase()
  const path = `/v2/approvals/${encodeURIComponent(id)}`
  const { approvalDecision } = await import('@baton/engine')
  const decided = await withGateway(context, async (gateway) => {
    const handoff = await gateway.get<Approval>(`/v2/handoffs/${encodeURIComponent(id)}`)
    const asked = { decision, sha256: handoff.sha256, reasonCode: reason ?? null }
    return gateway.decide<Decided>(path, body, approvalDecision({ ...handoff, person: '' }, asked))
  })
  if (output.json) output.data(JSON.stringify(decided))
  const verb = decision === 'approve' ? 'Approved' : 'Refused'
  const again = decided.repeated ? ' before' : ''
  output.words(`${verb}${again} by ${decided.decidedBy}; the handoff is ${decided.state}.`)
  output.next(nextStep(`trace ${short(decided.taskId)}`))
  return EXIT.fine
}
