// `audit admin`: what operators did to the installation, and who was shown what is protected; each record with how well it is proven.
import { OPERATION_EVENTS } from '@baton/ledger'
import type { EntryOperation } from '@baton/ledger'
import type { Context } from '../context.ts'
import type { ExitCode } from '../exit-codes.ts'
import { instant, short } from '../terminal/figures.ts'
import { renderTable } from '../terminal/table.ts'
import { search } from './search.ts'
import type { Hit, SearchOptions } from './search.ts'

export interface AdminOptions extends Pick<SearchOptions, 'limit' | 'cursor' | 'out'> {
  readonly decidedBy?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** With what was taken out of the log: evidence and files. */
const EVENTS = [...OPERATION_EVENTS, 'EVIDENCE_EXPORTED']

/** Exit code as `search`. */
export function admin(context: Context, options: AdminOptions): Promise<ExitCode> {
  const { decidedBy, since, until, ...rest } = options
  const given = Object.entries({ decidedBy, since, until }).filter(([, one]) => one !== undefined)
  const criteria = { events: EVENTS, ...Object.fromEntries(given) }
  return search(context, { ...rest, criteria }, show)
}

export const show = (hits: readonly Hit[]): string =>
  renderTable(
    [
      { title: 'TIME (UTC)' },
      { title: 'WHO', widthMax: 24 },
      { title: 'DID' },
      { title: 'TO', widthMax: 28 },
      { title: 'OF' },
      { title: 'BY RIGHT OF', widthMax: 26 },
      { title: 'FROM' },
      { title: 'FACTS', widthMax: 48 },
      { title: 'KEPT' },
      { title: 'RECORD' },
    ],
    hits.map((hit) => [
      instant(hit.recordedAt),
      hit.decidedBy ?? '',
      hit.event,
      hit.operation?.subject ?? short(hit.taskId),
      hit.tenant,
      hit.operation?.right ?? '',
      hit.operation?.address ?? '',
      factsOf(hit.operation),
      hit.findings.length > 0 ? 'NOT PROVEN' : hit.assurance,
      short(hit.recordHash),
    ]),
  )

const factsOf = (operation: EntryOperation | null): string =>
  (operation?.details ?? [])
    .map(({ code, value, sha256 }) => `${code} ${value ?? (sha256 === null ? '' : short(sha256))}`)
    .join(', ')
