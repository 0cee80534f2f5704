// Alerts and escalations handled many at once: how many are meant is shown first, and nothing is done before somebody said so.
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import { count, counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'

/** What a person means, as the gateway's filters call it. */
export interface Selection {
  readonly kind?: string
  readonly severity?: string
  readonly reason?: string
  readonly sender?: string
  readonly fromPrefix?: string
  readonly toPrefix?: string
  readonly before?: string
}

interface Handled {
  readonly matching: number
  readonly handled: number
  readonly left: number
}

interface Handling {
  readonly what: 'alert' | 'escalation'
  readonly act: 'acknowledge' | 'close' | 'resolve'
  readonly selection: Selection
  readonly why?: string | undefined
  /** Without it, only what is meant is counted. */
  readonly isSure: boolean
}

/** A call handles a thousand at most; what is still left after so many is told. */
const CALLS_MAX = 100

export async function handleMany(context: Context, handling: Handling): Promise<ExitCode> {
  const { output } = context
  const { what, act, selection: filter, why, isSure } = handling
  const done = await withGateway(context, async (gateway) => {
    const post = (body: object) =>
      gateway.post<Handled>(`/v2/${what}s/${act}`, {
        filter,
        ...(why === undefined ? {} : { why }),
        ...body,
      })
    const meant = await post({ dryRun: true })
    output.words(`${counted(meant.matching, what)} to ${act}.`)
    if (!isSure || meant.matching === 0) return meant
    let handled = 0
    let left = meant.matching
    for (let call = 1; call <= CALLS_MAX && left > 0; call += 1) {
      const answer = await post({})
      handled += answer.handled
      left = answer.left
    }
    output.words(`${PAST[act]} ${count(handled)}; ${count(left)} left.`)
    return { matching: meant.matching, handled, left }
  })
  if (output.json) output.data(JSON.stringify(done))
  if (!isSure && done.matching > 0)
    output.words('Nothing is done yet: the same with --yes does it.')
  output.next(nextStep(`${what}s`))
  return EXIT.fine
}

const PAST = { acknowledge: 'Acknowledged', close: 'Closed', resolve: 'Resolved' } as const

/** One that is named, or all that are meant. Throws BATON_USAGE where neither is said, or both. */
export function oneOrMany<Result>(
  id: string | undefined,
  selection: Selection,
  { one, many }: { readonly one: (id: string) => Result; readonly many: () => Result },
): Result {
  const isMany = Object.values(selection).some((value) => value !== undefined)
  if (id !== undefined && !isMany) return one(id)
  if (id === undefined && isMany) return many()
  throw permanent('BATON_USAGE', 'either an id says which is meant, or options say which are', {
    fix: 'Give one id, or options such as --reason, --from and --older-than; --help lists them.',
  })
}
