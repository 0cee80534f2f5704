// The one form of an id: a UUID of any version in lower-case digits.

/** For JSON Schema. */
export const UUID_PATTERN = '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

const UUID = new RegExp(UUID_PATTERN)

/** Whether a text is such an id. */
export const isUuid = (text: string): boolean => UUID.test(text)

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Whether it is of version 4, as messages name what they are about: ids of other versions are Baton's own. */
export const isSentId = (text: string): boolean => UUID_V4.test(text)
