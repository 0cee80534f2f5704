// The texts that a pointer of the scanner may mean: a finding names a key by the pointer of its value.

/** The value where it is a text, then its key. */
export function textsAt(message: unknown, pointer: string): readonly string[] {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  let value = message
  for (const key of keys)
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return [value, keys.at(-1)].filter((one) => typeof one === 'string')
}
