// What dead letters of one cause have in common: the reason, and by which rule at which kind of place.

const PARTS_MAX = 5
const PART_LENGTH_MAX = 160

interface Place {
  readonly pointer?: unknown
  readonly rule?: unknown
}

/**
 * The cluster of a dead letter, such as `SAFETY_VIOLATION override@/toolCallHistory/*`: each rule and
 * pointer once, array indexes as `*`, in one order, at most five of them. The text of a message
 * never stands in it.
 */
export function clusterOf(reason: string, details: readonly Place[]): string {
  const parts = [...new Set(details.map(partOf))].filter((part) => part !== '').toSorted()
  const rest = parts.length - PARTS_MAX
  const shown = parts.slice(0, PARTS_MAX).join(' ')
  return [reason, shown, rest > 0 ? `+${rest}` : ''].filter((text) => text !== '').join(' ')
}

function partOf({ pointer, rule }: Place): string {
  const name = typeof rule === 'string' ? rule : ''
  const place = typeof pointer === 'string' ? pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*') : ''
  const part = place === '' ? name : `${name}@${place}`
  return part
    .slice(0, PART_LENGTH_MAX)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '?')
}
