// Agent versions and the ranges of them that a message asks for (ruling 11).
// Its parts by name: the whole library is three times as many files, in every process.
import Range from 'semver/classes/range.js'
import satisfies from 'semver/functions/satisfies.js'
import valid from 'semver/functions/valid.js'

const RANGES_MAX = 1000
const ranges = new Map<string, Range | undefined>()

/** Whether the range can be understood at all. */
export function isAgentRange(range: string): boolean {
  return parseRange(range) !== undefined
}

/** Whether an agent version lies in a semantic version range; false when either is malformed. */
export function satisfiesAgentRange(version: string, range: string): boolean {
  const parsed = parseRange(range)
  return parsed !== undefined && valid(version) !== null && satisfies(version, parsed)
}

/** Remembers the ranges seen, of which a system has few. */
function parseRange(text: string): Range | undefined {
  if (ranges.has(text)) return ranges.get(text)
  if (ranges.size >= RANGES_MAX) ranges.clear()
  const range = readRange(text)
  ranges.set(text, range)
  return range
}

function readRange(text: string): Range | undefined {
  try {
    return new Range(text)
  } catch {
    return undefined
  }
}
