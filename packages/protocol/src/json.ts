// The JSON data model, and the JSON pointers that name a place in it.

export type JsonPrimitive = string | number | boolean | null
export type JsonValue = JsonPrimitive | JsonObject | readonly JsonValue[]
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** Extends an RFC 6901 pointer by one member name or index. */
export function pointerTo(parent: string, token: string | number): string {
  if (typeof token === 'number') return `${parent}/${token}`
  return `${parent}/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
