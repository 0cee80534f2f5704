// The texts that a pointer of the scanner may mean: a finding names a key by the pointer of its value.
import { textOfCodes } from '@baton/safety'

/** The value where it is a text, or the character codes that it lists, one space between them; then its key. */
export function textsAt(message: unknown, pointer: string): readonly string[] {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  let value = message
  for (const key of keys)
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  const text = Array.isArray(value) ? textOfCodes(value) : value
  return [text, keys.at(-1)].filter((one) => typeof one === 'string')
}
