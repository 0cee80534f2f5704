// How figures are shown to people: money, times, counts.

export const dollars = (microUSD: number): string => `$${(microUSD / 1_000_000).toFixed(4)}`

/** From one second on in seconds: "118 ms", "9.9 s". */
export const milliseconds = (ms: number): string =>
  Math.round(ms) >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms)} ms`

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A span that may also be long: "118 ms", "31.6 min", "26.0 h", "40.2 days". */
export function elapsed(ms: number): string {
  if (ms < 2 * MINUTE_MS) return milliseconds(ms)
  if (ms < 2 * HOUR_MS) return `${(ms / MINUTE_MS).toFixed(1)} min`
  return ms < 2 * DAY_MS ? `${(ms / HOUR_MS).toFixed(1)} h` : `${(ms / DAY_MS).toFixed(1)} days`
}

export const count = (value: number): string => value.toLocaleString('en-US')

/** "1 task", "2 tasks". */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/** The first part of a UUID or hash; enough to find it again with this command line. */
export const short = (id: string): string => id.slice(0, 8)

/** The UTC time of an RFC 3339 text, to the second. */
export const instant = (text: string): string => text.slice(0, 19).replace('T', ' ')

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const
const UNIT = 1_000

/** "612 bytes", "40.8 MB". */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  for (; value >= UNIT && unit < UNITS.length - 1; unit += 1) value /= UNIT
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`
}
