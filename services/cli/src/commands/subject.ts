// `subject`: where a person stands, without a word of what is said.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import { counted, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

interface Found {
  readonly handoffs: readonly {
    readonly handoffId: string
    readonly taskId: string
    readonly state: string
    readonly createdAt: string
    readonly open: boolean
  }[]
  readonly records: readonly {
    readonly origin: string
    readonly seq: number
    readonly taskId: string
    readonly handoffId: string
    readonly assurance: string | null
    readonly verified: boolean
  }[]
}

/** Exit code 5 where nothing names the person, 3 where a record that does is not what was recorded. */
export async function showSubject(context: Context, subject: string): Promise<ExitCode> {
  const { output } = context
  const found = await withGateway(context, (gateway) =>
    gateway.post<Found>('/v2/subjects/search', { subject }),
  )
  const { handoffs, records } = found
  if (output.json) output.data(JSON.stringify(found))
  else if (handoffs.length > 0) output.data(table(found))
  output.words(
    `${counted(handoffs.length, 'handoff')}, ${counted(records.length, 'audit record')}.`,
  )
  if (handoffs.length + records.length === 0) return EXIT.notFound
  const altered = new Set(records.filter(({ verified }) => !verified).map(({ taskId }) => taskId))
  const young = records.filter(({ assurance }) => assurance === 'committed').length
  if (young > 0) output.words(`${counted(young, 'audit record')} not under a signed head yet.`)
  if (altered.size > 0) {
    output.words(`Not verified: records of ${[...altered].join(', ')} are not what was recorded.`)
    output.next(nextStep('verify'))
    return EXIT.verificationFailed
  }
  output.next(nextStep('erase <subject>'))
  return EXIT.fine
}

const table = ({ handoffs, records }: Found): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'TASK' },
      { title: 'STATE' },
      { title: 'SENT (UTC)' },
      { title: 'RECORDS', align: 'right' },
      { title: 'KEPT' },
    ],
    handoffs.map((one) => {
      const own = records.filter((record) => record.handoffId === one.handoffId)
      return [
        one.handoffId,
        short(one.taskId),
        one.open ? `${one.state} (open)` : one.state,
        instant(one.createdAt),
        String(own.length),
        [...new Set(own.map(keptAs))].join(', '),
      ]
    }),
  )

const keptAs = ({ verified, assurance }: Found['records'][number]): string =>
  verified ? (assurance ?? '') : 'NOT verified'
