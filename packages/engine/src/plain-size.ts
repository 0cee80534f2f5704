// How large a value is that a thread can be given.

/** Deeper than any message. */
const DEPTH_MAX = 256

/**
 * About how many characters its JSON has; undefined where it is not made of plain objects, arrays and scalars only, and so would not
 * be the same in a thread.
 */
export function plainSize(value: unknown, depth = 0): number | undefined {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' ? undefined : 8
  if (depth > DEPTH_MAX) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null)
    return undefined
  let size = 2
  for (const key in value) {
    const inner = plainSize((value as Record<string, unknown>)[key], depth + 1)
    if (inner === undefined) return undefined
    size += inner + (Array.isArray(value) ? 1 : key.length + 4)
  }
  return size
}
