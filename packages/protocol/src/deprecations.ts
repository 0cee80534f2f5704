// What a message uses that its schema announces to remove: `deprecated: true` for one release before the next major version (features 4.3).
import { DETAILS_MAX } from './detail.ts'
import type { Detail } from './detail.ts'
import { pointerTo } from './json.ts'
import type { JsonValue } from './json.ts'

type Schema = Readonly<Record<string, unknown>>
/** Names of members; `*` is every element of an array. */
type Path = readonly string[]

/** Says which deprecated members a value of this schema has. One without any costs nothing to check. */
export function createDeprecationCheck(schema: object): (value: JsonValue) => readonly Detail[] {
  const paths = deprecatedPaths(schema as Schema, { root: schema as Schema, within: [] })
  if (paths.length === 0) return () => []
  return (value) =>
    paths.flatMap((path) => placesOf(value, path, '').map(deprecated)).slice(0, DETAILS_MAX)
}

const deprecated = (pointer: string): Detail => ({
  pointer,
  rule: 'deprecated',
  message: 'the member is deprecated: the next major version of the schema does not have it',
  fix: 'Leave it out; its description in the schema says what takes its place.',
})

interface Around {
  readonly root: Schema
  /** Definitions that this one stands in: one that holds itself is followed once. */
  readonly within: readonly string[]
}

function deprecatedPaths(schema: Schema, { root, within }: Around): readonly Path[] {
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    if (within.includes(reference)) return []
    const name = reference.replace('#/$defs/', '')
    const found = (root['$defs'] as Readonly<Record<string, Schema>> | undefined)?.[name]
    return found === undefined
      ? []
      : deprecatedPaths(found, { root, within: [...within, reference] })
  }
  const { properties = {}, items } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly items?: Schema
  }
  const inner = [
    ...Object.entries(properties),
    ...(items === undefined ? [] : [['*', items] as const]),
  ]
  return inner.flatMap(([name, member]) => {
    const own = member['deprecated'] === true ? [[name]] : []
    return [...own, ...deprecatedPaths(member, { root, within }).map((path) => [name, ...path])]
  })
}

function placesOf(value: JsonValue | undefined, [name, ...rest]: Path, pointer: string): string[] {
  if (name === undefined) return value === undefined ? [] : [pointer]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value))
    return name === '*'
      ? value.flatMap((one: JsonValue, index) => placesOf(one, rest, pointerTo(pointer, index)))
      : []
  if (!Object.hasOwn(value, name)) return []
  return placesOf(
    (value as Readonly<Record<string, JsonValue>>)[name],
    rest,
    pointerTo(pointer, name),
  )
}
