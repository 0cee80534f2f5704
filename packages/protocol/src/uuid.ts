// The one form of an id: a UUID of any version in lower-case digits.

/** For JSON Schema. */
export const UUID_PATTERN = '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

const UUID = new RegExp(UUID_PATTERN)

/** Whether a text is such an id. */
export const isUuid = (text: string): boolean => UUID.test(text)
