// `offer`, `list`, `show`, `accept`, `complete`, `reject`, `fail`, `reoffer`: protocol v0.1 on a folder of files.
import type { OfferedHandoff, OfferList, Offers, Status } from '@baton/offers'
import type { JsonObject } from '@baton/protocol'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { cursorOf, readCursor, sayShown, typedAgain, wantedBy } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'
import { withOffers } from './open-offers.ts'

interface OfferOptions {
  readonly description: string
  readonly from: string
  readonly to: string | undefined
  readonly given: JsonObject | undefined
}

export async function offer(context: Context, options: OfferOptions): Promise<ExitCode> {
  const { description, from, to = '', given = {} } = options
  const asked = { description, from_agent: from, to_agent: to, context: given }
  const handoff = await withOffers(context, ({ offers }) => offers.createHandoff(asked))
  print(context, handoff)
  return EXIT.fine
}

interface ListOptions extends PageFlags {
  readonly status?: string | undefined
}

export async function list(context: Context, options: ListOptions): Promise<ExitCode> {
  const { output } = context
  const { status, limit, cursor } = options
  const after = cursor && readCursor(cursor, NAME)
  const asked = { status: status as Status | undefined, limit: wantedBy(options), after }
  const found = await withOffers(context, ({ offers }) => offers.listHandoffs(asked))
  const { handoffs, foreign, next, ...counted } = found
  if (output.json) output.data(JSON.stringify(handoffs))
  else if (handoffs.length > 0) output.data(table(handoffs))
  for (const { name, reason } of foreign) output.step('unknown', 'no handoff', `${name} ${reason}`)
  const nextCursor = next && cursorOf(next)
  const listed = { rows: [...handoffs, ...foreign], nextCursor, ...counted }
  sayShown(output, listed, `list${typedAgain({ status, limit })}`)
  output.next(nextStep(stepAfterList(found)))
  return EXIT.fine
}

/** Of a file or of a row. */
const NAME = /^[^\0]+$/

function stepAfterList({ handoffs }: OfferList): string {
  const open = handoffs.find(({ status }) => status === 'offered')
  if (open !== undefined) return `accept ${short(open.task_id)} --agent NAME`
  return handoffs.length === 0
    ? 'offer "what needs to be done" --from NAME'
    : 'list --status offered'
}

const table = (handoffs: readonly OfferedHandoff[]): string =>
  renderTable(
    [
      { title: 'ID', widthMax: 36 },
      { title: 'STATUS' },
      { title: 'FROM', widthMax: 24 },
      { title: 'TO', widthMax: 24 },
      { title: 'CHANGED AT (UTC)' },
      { title: 'DESCRIPTION', widthMax: 60 },
    ],
    handoffs.map((handoff) => [
      handoff.task_id,
      handoff.status,
      handoff.from_agent,
      handoff.to_agent === '' ? 'anyone' : handoff.to_agent,
      instant(handoff.updated_at),
      handoff.description,
    ]),
  )

export async function show(context: Context, id: string): Promise<ExitCode> {
  print(context, await withOffers(context, ({ offers }) => offers.findHandoff(id)))
  return EXIT.fine
}

interface AcceptOptions {
  readonly id: string
  readonly agent: string
}

export async function accept(context: Context, { id, agent }: AcceptOptions): Promise<ExitCode> {
  const accepted = await withOffers(context, async ({ offers }) => {
    const { task_id: taskId } = await offers.findHandoff(id)
    return offers.acceptHandoff(taskId, agent)
  })
  print(context, accepted)
  return EXIT.fine
}

interface StepOptions {
  readonly id: string
  readonly verb: 'complete' | 'reject' | 'fail' | 'reoffer'
  readonly agent: string | undefined
  readonly given: JsonObject | undefined
}

export async function takeStep(context: Context, options: StepOptions): Promise<ExitCode> {
  const { id, verb, agent, given = {} } = options
  const changed = await withOffers(context, async ({ offers }) => {
    const { task_id: taskId } = await offers.findHandoff(id)
    return STEP[verb](offers)(taskId, { agent, context: given })
  })
  print(context, changed)
  return EXIT.fine
}

const STEP = {
  complete: (offers: Offers) => offers.completeHandoff,
  reject: (offers: Offers) => offers.rejectHandoff,
  fail: (offers: Offers) => offers.failHandoff,
  reoffer: (offers: Offers) => offers.reofferHandoff,
}

function print({ output }: Context, handoff: OfferedHandoff): void {
  output.data(output.json ? JSON.stringify(handoff) : described(handoff))
  const step = NEXT[handoff.status]
  output.next(nextStep(step(short(handoff.task_id))))
}

const NEXT: Readonly<Record<Status, (id: string) => string>> = {
  offered: (id) => `accept ${id} --agent NAME`,
  accepted: (id) => `complete ${id}   ·   ${nextStep(`fail ${id}`)}`,
  completed: () => 'list --status offered',
  failed: (id) => `reoffer ${id}`,
  rejected: () => 'list --status offered',
}

const described = (handoff: OfferedHandoff): string =>
  renderTable(
    [{ title: 'TASK ID' }, { title: handoff.task_id }],
    [
      ['status', handoff.status],
      ['from', handoff.from_agent],
      ['to', handoff.to_agent === '' ? 'anyone' : handoff.to_agent],
      ['description', handoff.description],
      ['created at', handoff.created_at],
      ['changed at', handoff.updated_at],
      ...Object.entries(handoff.context).map(([name, value]) => [
        `context ${name}`,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ],
  )
