// The texts that a pointer of the scanner may mean: a finding names a key by the pointer of its value.
import { isReadKey, textOfCodes } from './fields.ts'

/** The value where it is a text, or the character codes that it lists, one space between them; then its key, where that is read as a text. */
export function textsAt(message: unknown, pointer: string): readonly string[] {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  let value = message
  for (const key of keys)
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  // The text of a key is as gone as what it named.
  if (value === undefined) return []
  const text = Array.isArray(value) ? textOfCodes(value) : value
  const key = keys.at(-1) ?? ''
  return [text, isReadKey(key) ? key : undefined].filter((one) => typeof one === 'string')
}
