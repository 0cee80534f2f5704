// Lists in pages: what one page shows, all of it up to a bound, and the line that says how much of the whole that is.
import { ALL_MAX } from '../arguments.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { count } from '../terminal/figures.ts'
import { nextStep, quoted } from '../terminal/next-steps.ts'
import type { Output } from '../terminal/output.ts'

export interface PageFlags {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly all?: boolean | undefined
}

export interface Listed<Row> {
  readonly rows: readonly Row[]
  readonly nextCursor: string | null
  readonly total: number
  readonly totalIsExact: boolean
}

/** What one request may ask for. */
const PAGE_MAX = 1_000

/** `name` is that of the rows in the answer. */
export async function readPages<Row>(
  gateway: Pick<GatewayClient, 'get'>,
  {
    path,
    name,
    filter,
    flags,
  }: {
    readonly path: string
    readonly name: string
    readonly filter: Readonly<Record<string, string | undefined>>
    readonly flags: PageFlags
  },
): Promise<Listed<Row>> {
  const given = Object.entries(filter).filter(
    (one): one is [string, string] => one[1] !== undefined,
  )
  const wanted = flags.all === true ? ALL_MAX : flags.limit
  const rows: Row[] = []
  let cursor: string | null | undefined = flags.cursor
  for (;;) {
    const limit = String(Math.min(PAGE_MAX, wanted - rows.length))
    const query = new URLSearchParams({ ...Object.fromEntries(given), limit })
    if (typeof cursor === 'string') query.set('cursor', cursor)
    const answer = await gateway.get<
      Omit<Listed<Row>, 'rows'> & Readonly<Record<string, readonly Row[]>>
    >(`${path}?${query.toString()}`)
    rows.push(...(answer[name] ?? []))
    cursor = answer.nextCursor
    if (cursor === null || rows.length >= wanted) {
      const { total, totalIsExact } = answer
      return { rows, nextCursor: cursor, total, totalIsExact }
    }
  }
}

/** Says how much of the list is shown where that is not all of it. `command` repeats its filter. */
export function sayShown(
  output: Output,
  { rows, nextCursor, total, totalIsExact }: Listed<unknown>,
  command: string,
): void {
  if (nextCursor === null && rows.length === total) return
  const whole = totalIsExact ? count(total) : `more than ${count(total)}`
  const next =
    nextCursor === null
      ? 'this was the last page'
      : `next: ${nextStep(`${command} --cursor ${nextCursor}`)}`
  output.words(`${count(rows.length)} of ${whole} shown; ${next}`)
}

/** A filter as it is typed again, in the order of its options. */
export const typedAgain = (filter: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(filter)
    .flatMap(([name, text]) => (text === undefined ? [] : [` --${name} ${quoted(String(text))}`]))
    .join('')
