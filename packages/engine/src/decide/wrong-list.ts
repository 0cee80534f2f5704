// What is wrong with whom work is handed on to, at the JSON pointers where it was asked for, so that it is mended there.
import { ProtocolError } from '@baton/protocol'
import type { Detail } from '@baton/protocol'

interface Wrong extends Pick<Detail, 'rule' | 'message' | 'fix'> {
  /** Where it was asked for; the first of them is the place that is named first. */
  readonly pointers: readonly [string, ...string[]]
}

/** As many as are read. */
const PLACES_MAX = 50

/** An error that trying again does not mend, with one detail for each place. */
export function wrongList(
  code: `BATON_${string}`,
  { pointers: [first, ...others], rule, message, fix }: Wrong,
): ProtocolError {
  const at = (pointer: string): Detail => ({ pointer, rule, message, fix })
  return new ProtocolError(code, [at(first), ...others.slice(0, PLACES_MAX - 1).map(at)])
}
