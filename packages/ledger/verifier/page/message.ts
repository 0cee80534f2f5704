// A text that is JSON, taken apart only where its parts say all that it says.
export type Members = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined unless it is an object, and writing it again gives the same text: no name twice, no digit lost. */
export function readMessage(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}
