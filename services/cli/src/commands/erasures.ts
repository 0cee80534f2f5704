// `erasures`: what was planned, waits for a second person, or is done; no person is named.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import { instant } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { readPages, sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'

interface Erasure {
  readonly id: string
  readonly state: string
  readonly basis: string
  readonly requestedBy: string
  readonly requestedAt: string
  readonly confirmedBy: string | null
  readonly completedAt: string | null
  readonly proven: boolean
}

interface ErasuresOptions extends PageFlags {
  readonly state?: string | undefined
}

/** Exit code 3 where one that is shown is not what the auditor signed. */
export async function listErasures(
  context: Context,
  { state, ...flags }: ErasuresOptions,
): Promise<ExitCode> {
  const { output } = context
  const asked = { path: '/v2/erasures', name: 'erasures', filter: { state }, flags }
  const listed = await withGateway(context, (gateway) => readPages<Erasure>(gateway, asked))
  const found = listed.rows
  if (output.json) output.data(JSON.stringify(found))
  else if (found.length > 0) output.data(table(found))
  if (listed.total === 0) output.words('There is no such erasure.')
  sayShown(output, listed, `erasures${typedAgain({ state, limit: flags.limit })}`)
  const altered = found.filter(({ proven }) => !proven)
  if (altered.length > 0) {
    const ids = altered.map(({ id }) => id).join(', ')
    output.words(`Not verified: the table of erasures was changed, or a key is missing: ${ids}.`)
    output.next(nextStep('verify'))
    return EXIT.verificationFailed
  }
  output.next(nextStep(stepAfter(found)))
  return EXIT.fine
}

function stepAfter(found: readonly Erasure[]): string {
  const planned = found.find(({ state }) => state === 'PLANNED')
  if (planned !== undefined) return `erase <subject> --confirm ${planned.id} --as reviewer-1`
  const [newest] = found
  return newest === undefined ? 'erase <subject>' : `erase --status ${newest.id}`
}

const table = (found: readonly Erasure[]): string =>
  renderTable(
    [
      { title: 'ERASURE' },
      { title: 'STATE' },
      { title: 'BASIS', dropAt: 2 },
      { title: 'ASKED FOR BY' },
      { title: 'AT (UTC)' },
      { title: 'CONFIRMED BY' },
      { title: 'DONE (UTC)', dropAt: 1 },
    ],
    found.map((one) => [
      one.id,
      one.proven ? one.state : `${one.state}, NOT verified`,
      one.basis,
      one.requestedBy,
      instant(one.requestedAt),
      one.confirmedBy ?? '',
      one.completedAt === null ? '' : instant(one.completedAt),
    ]),
  )
