// What changes between two versions of a JSON Schema, and whom it breaks (features 4.3): those who hold older messages, or those who run
// an older receiver. It compares what is written, so that what it cannot compare counts as broken and never as fine.
import { isDeepStrictEqual } from 'node:util'
import { pointerTo } from './json.ts'

/** Messages that were valid and are not any more; receivers of the older version that refuse newer messages. */
export type Broken = 'older messages' | 'older receivers'

export interface SchemaChange {
  /** JSON pointer into a message; `*` stands for every element or key. */
  readonly pointer: string
  /** What changed, in words. */
  readonly change: string
  /** Whom it breaks; empty where the change is compatible. */
  readonly breaks: readonly Broken[]
}

type Schema = Readonly<Record<string, unknown>>

/**
 * All changes from `older` to `newer`. The versions are compatible where no change breaks anybody. What changes in a definition that several
 * places share is told once, at the first of them.
 */
export function diffSchemas(older: Schema, newer: Schema): readonly SchemaChange[] {
  const seen = new Set<string>()
  const changes: SchemaChange[] = []
  const add: Add = (pointer, change, ...breaks) => changes.push({ pointer, change, breaks })

  function compare(pointer: string, pair: Pair): void {
    const key = JSON.stringify(pair)
    if (seen.has(key)) return
    if (pair.some((schema) => '$ref' in schema)) seen.add(key)
    const resolved = [resolve(pair[0], older), resolve(pair[1], newer)] as const
    compareValues(pointer, resolved, add)
    compareMembers(pointer, resolved, add)
    for (const [place, inner] of innerSchemas(pointer, resolved)) compare(place, inner)
  }

  compare('', [older, newer])
  return changes
}

type Pair = readonly [Schema, Schema]
type Add = (pointer: string, change: string, ...breaks: Broken[]) => void

function resolve(schema: Schema, root: Schema): Schema {
  const reference = schema['$ref']
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return schema
  let found: unknown = root
  for (const key of reference.slice(2).split('/')) found = (found as Schema | undefined)?.[key]
  const { $ref: _, ...beside } = schema
  return resolve({ ...(found as Schema), ...beside }, root)
}

/** A bound by its keyword: whether a larger number lets more pass. */
const LARGER_IS_WIDER: Readonly<Record<string, boolean>> = {
  maxLength: true,
  maxItems: true,
  maximum: true,
  exclusiveMaximum: true,
  maxProperties: true,
  minLength: false,
  minItems: false,
  minimum: false,
  exclusiveMinimum: false,
  minProperties: false,
}

const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'title',
  'description',
  'examples',
  'default',
  'deprecated',
])
/** Compared one by one, in their order. */
const ALTERNATIVES: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf'])
/** Compared by functions of their own. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'propertyNames',
])

function compareValues(pointer: string, [before, after]: Pair, add: Add): void {
  compareSets(pointer, 'type', [typesOf(before), typesOf(after)], add)
  compareSets(pointer, 'value', [before['enum'] as unknown[], after['enum'] as unknown[]], add)
  if (before['deprecated'] !== true && after['deprecated'] === true)
    add(pointer, 'is deprecated: it may be removed in the next major version')
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)])
  for (const keyword of keywords) {
    if (ANNOTATIONS.has(keyword) || STRUCTURE.has(keyword)) continue
    const values = [before[keyword], after[keyword]] as const
    if (isDeepStrictEqual(...values) && !hasReference(values)) continue
    if (ALTERNATIVES.has(keyword) && lengthOf(values[0]) === lengthOf(values[1])) continue
    const wider = LARGER_IS_WIDER[keyword]
    if (wider === undefined) add(pointer, `${keyword} changed`, 'older messages', 'older receivers')
    else compareBound(pointer, { keyword, values, wider }, add)
  }
}

const hasReference = (value: unknown): boolean => JSON.stringify(value).includes('"$ref"')
const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : -1)

const typesOf = ({ type }: Schema): readonly unknown[] | undefined =>
  type === undefined ? undefined : [type].flat()

function compareSets(
  pointer: string,
  what: string,
  [before, after]: readonly [readonly unknown[] | undefined, readonly unknown[] | undefined],
  add: Add,
): void {
  if (before === undefined && after === undefined) return
  const [had, has] = [new Set(before ?? []), new Set(after ?? [])]
  const lost = before === undefined || [...had].some((one) => after !== undefined && !has.has(one))
  const gained =
    after === undefined || [...has].some((one) => before !== undefined && !had.has(one))
  const words = (set: ReadonlySet<unknown>) =>
    [...set].map((one) => JSON.stringify(one)).join(', ') || 'any'
  const change = `${what} was ${words(had)} and is ${words(has)}`
  if (lost && gained) add(pointer, change, 'older messages', 'older receivers')
  else if (lost) add(pointer, change, 'older messages')
  else if (gained) add(pointer, change, 'older receivers')
}

interface Bound {
  readonly keyword: string
  readonly values: readonly [unknown, unknown]
  readonly wider: boolean
}

function compareBound(pointer: string, { keyword, values, wider }: Bound, add: Add): void {
  const none = wider ? Infinity : -Infinity
  const [before, after] = values.map((value) => (value === undefined ? none : Number(value)))
  const isWider = wider ? Number(after) > Number(before) : Number(after) < Number(before)
  const words = (value: unknown) => (value === undefined ? 'none' : JSON.stringify(value))
  const change = `${keyword} was ${words(values[0])} and is ${words(values[1])}`
  add(pointer, change, isWider ? 'older receivers' : 'older messages')
}

function compareMembers(pointer: string, [before, after]: Pair, add: Add): void {
  const [had, has] = [propertiesOf(before), propertiesOf(after)]
  const [needed, needs] = [requiredOf(before), requiredOf(after)]
  for (const name of Object.keys(had)) {
    const place = pointerTo(pointer, name)
    if (!Object.hasOwn(has, name)) {
      const announced = had[name]?.['deprecated'] === true ? ', as it was announced' : ''
      add(
        place,
        `is removed${announced}`,
        'older messages',
        ...(needed.has(name) ? ['older receivers' as const] : []),
      )
    } else if (needed.has(name) && !needs.has(name))
      add(place, 'is required no longer', 'older receivers')
    else if (!needed.has(name) && needs.has(name)) add(place, 'is required now', 'older messages')
  }
  for (const name of Object.keys(has)) {
    if (Object.hasOwn(had, name)) continue
    const place = pointerTo(pointer, name)
    // At the top level receivers of an older minor keep what they do not know; below it, where an object is closed, they refuse it.
    const isRefused = pointer !== '' && before['additionalProperties'] === false
    const receivers = isRefused ? ['older receivers' as const] : []
    if (needs.has(name)) add(place, 'is new and required', 'older messages', ...receivers)
    else add(place, 'is new and optional', ...receivers)
  }
  compareClosed(pointer, [before, after], add)
}

function compareClosed(pointer: string, [before, after]: Pair, add: Add): void {
  const [was, is] = [before, after].map(({ additionalProperties = true }) => additionalProperties)
  if (was !== false && is === false)
    add(pointer, 'takes no other members any more', 'older messages')
  if (was === false && is !== false && pointer !== '')
    add(pointer, 'takes other members now', 'older receivers')
}

const propertiesOf = ({ properties = {} }: Schema) => properties as Readonly<Record<string, Schema>>
const requiredOf = ({ required = [] }: Schema) => new Set(required as readonly string[])

/** The schemas below that both have, with the places they speak of. */
function innerSchemas(pointer: string, [before, after]: Pair): readonly [string, Pair][] {
  const [had, has] = [propertiesOf(before), propertiesOf(after)]
  const members: readonly [string, Pair][] = Object.keys(had)
    .filter((name) => Object.hasOwn(has, name))
    .map((name) => [pointerTo(pointer, name), [had[name] ?? {}, has[name] ?? {}]])
  const others: readonly [string, Pair][] = ['items', 'additionalProperties', 'propertyNames']
    .map((keyword) => [before[keyword], after[keyword]] as const)
    .filter((pair) => pair.some(isSchema))
    .map(([a, b]) => [`${pointer}/*`, [isSchema(a) ? a : {}, isSchema(b) ? b : {}]])
  const alternatives = [...ALTERNATIVES].flatMap((keyword): readonly [string, Pair][] => {
    const [a, b] = [before[keyword], after[keyword]].map(schemasOf)
    return (a ?? []).flatMap((schema, index) => {
      const other = b?.[index]
      return other === undefined ? [] : [[pointer, [schema, other]]]
    })
  })
  return [...members, ...others, ...alternatives]
}

const schemasOf = (value: unknown): readonly Schema[] =>
  Array.isArray(value) ? value.filter(isSchema) : []

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null
