// JSON that Postgres takes: its jsonb refuses NUL and lone surrogates, which a hostile message may hold.

/** JSON of `value` with U+FFFD for every character that cannot be stored. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'string' ? member.replaceAll('\0', '\ufffd').toWellFormed() : member,
  )
}
