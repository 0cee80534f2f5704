// Times of the log are whole microseconds since 1970, so that no two records of a chain share one.

const PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const MINUTE_LENGTH = '2026-11-20T10:00'.length
const MICROS_PER_SECOND = 1_000_000
const ZERO = 48

/** RFC 3339 in UTC with six fraction digits: 2026-11-20T10:00:00.123004Z. */
export function formatInstant(micros: number): string {
  const millis = Math.floor(micros / 1000)
  const rest = String(micros - millis * 1000).padStart(3, '0')
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`
}

// Records of a chain share their minutes, and parsing a date costs more than the rest of a record.
let parsed = { minute: '', micros: Number.NaN }

/** The microseconds of `formatInstant`'s form; undefined for any other text. */
export const parseInstant = (instant: string): number | undefined =>
  PATTERN.test(instant) ? microsOfForm(instant) : undefined

/** The same for a text whose every digit, sign and letter stands where it has to. */
export function microsOfForm(instant: string): number | undefined {
  const minute = instant.slice(0, MINUTE_LENGTH)
  if (minute !== parsed.minute) parsed = { minute, micros: Date.parse(`${minute}:00Z`) * 1000 }
  let micros = 0
  for (let at = MINUTE_LENGTH + 1; at < instant.length - 1; at += 1) {
    const digit = instant.charCodeAt(at) - ZERO
    if (digit >= 0) micros = micros * 10 + digit
  }
  if (Number.isNaN(parsed.micros) || micros >= 60 * MICROS_PER_SECOND) return undefined
  return parsed.micros + micros
}
