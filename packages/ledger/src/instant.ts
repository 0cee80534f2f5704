// Times of the log are whole microseconds since 1970, so that no two records of a chain share one.

const PATTERN = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})Z$/

/** RFC 3339 in UTC with six fraction digits: 2026-11-20T10:00:00.123004Z. */
export function formatInstant(micros: number): string {
  const millis = Math.floor(micros / 1000)
  const rest = String(micros - millis * 1000).padStart(3, '0')
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`
}

/** The microseconds of `formatInstant`'s form; undefined for any other text. */
export function parseInstant(instant: string): number | undefined {
  const parts = PATTERN.exec(instant)
  if (parts === null) return undefined
  const seconds = Date.parse(`${parts[1]}Z`)
  return Number.isNaN(seconds) ? undefined : seconds * 1000 + Number(parts[2])
}
