// Which events a subscription asks for, in the filter dialects of the CloudEvents Subscriptions API: exact, prefix, suffix, all, any and
// not, over attributes. Bounded, and each event is decided in one pass over the filter.

/** What a filter looks at: the context attributes of a CloudEvent. */
export type EventAttributes = Readonly<Record<string, unknown>>

type Values = Readonly<Record<string, string>>

/** One dialect each; every value of one must fit. */
export type EventFilter =
  | { readonly exact: Values }
  | { readonly prefix: Values }
  | { readonly suffix: Values }
  | { readonly all: readonly EventFilter[] }
  | { readonly any: readonly EventFilter[] }
  | { readonly not: EventFilter }

/** How many expressions and values a filter may have in all, and how deep they stand in one another. */
export const FILTER_PARTS_MAX = 64
export const FILTER_DEPTH_MAX = 6
const VALUE_MAX = 256
const ATTRIBUTE = /^[a-z0-9]{1,20}$/

export type ReadFilters =
  | { readonly ok: true; readonly filters: readonly EventFilter[] }
  | { readonly ok: false; readonly pointer: string; readonly problem: string }

class FilterProblem extends Error {
  readonly pointer: string

  constructor(pointer: string, message: string) {
    super(message)
    this.pointer = pointer
  }
}

/** Filters out of somebody's JSON; none of them is none that holds anything back. */
export function readFilters(value: unknown): ReadFilters {
  let parts = 0
  const count = (pointer: string) => {
    parts += 1
    if (parts > FILTER_PARTS_MAX)
      throw new FilterProblem(pointer, `it has more than ${FILTER_PARTS_MAX} parts`)
  }

  function readList(list: unknown, pointer: string, depth: number): readonly EventFilter[] {
    if (!Array.isArray(list)) throw new FilterProblem(pointer, 'it is no list')
    return list.map((one, index) => readOne(one, `${pointer}/${index}`, depth))
  }

  function readValues(values: unknown, pointer: string): Values {
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw new FilterProblem(pointer, 'it is no object of attributes and values')
    const entries = Object.entries(values)
    if (entries.length === 0) throw new FilterProblem(pointer, 'it names no attribute')
    for (const [name, wanted] of entries) {
      count(pointer)
      if (!ATTRIBUTE.test(name))
        throw new FilterProblem(pointer, 'it names what is no attribute of a CloudEvent')
      if (typeof wanted !== 'string' || wanted === '' || wanted.length > VALUE_MAX)
        throw new FilterProblem(
          `${pointer}/${name}`,
          `a value is a text of 1 to ${VALUE_MAX} characters`,
        )
    }
    return Object.fromEntries(entries) as Values
  }

  function readOne(one: unknown, pointer: string, depth: number): EventFilter {
    count(pointer)
    if (depth > FILTER_DEPTH_MAX)
      throw new FilterProblem(pointer, `it stands deeper than ${FILTER_DEPTH_MAX} expressions`)
    const members = typeof one === 'object' && one !== null ? Object.entries(one) : []
    const [member] = members
    if (member === undefined || members.length !== 1)
      throw new FilterProblem(pointer, 'an expression is an object with one dialect')
    const [dialect, inner] = member
    const at = `${pointer}/${dialect}`
    if (dialect === 'exact') return { exact: readValues(inner, at) }
    if (dialect === 'prefix') return { prefix: readValues(inner, at) }
    if (dialect === 'suffix') return { suffix: readValues(inner, at) }
    if (dialect === 'all') return { all: readList(inner, at, depth + 1) }
    if (dialect === 'any') return { any: readList(inner, at, depth + 1) }
    if (dialect === 'not') return { not: readOne(inner, at, depth + 1) }
    throw new FilterProblem(
      pointer,
      'its dialect is none of exact, prefix, suffix, all, any and not',
    )
  }

  try {
    return { ok: true, filters: readList(value, '', 1) }
  } catch (error) {
    if (!(error instanceof FilterProblem)) throw error
    return { ok: false, pointer: error.pointer, problem: error.message }
  }
}

/** Whether an event is asked for: by each of these filters. */
export const passes = (filters: readonly EventFilter[], event: EventAttributes): boolean =>
  filters.every((filter) => fits(filter, event))

function fits(filter: EventFilter, event: EventAttributes): boolean {
  if ('exact' in filter) return every(filter.exact, event, (value, wanted) => value === wanted)
  if ('prefix' in filter)
    return every(filter.prefix, event, (value, wanted) => value.startsWith(wanted))
  if ('suffix' in filter)
    return every(filter.suffix, event, (value, wanted) => value.endsWith(wanted))
  if ('all' in filter) return filter.all.every((one) => fits(one, event))
  if ('any' in filter) return filter.any.some((one) => fits(one, event))
  return !fits(filter.not, event)
}

const every = (
  values: Values,
  event: EventAttributes,
  fit: (value: string, wanted: string) => boolean,
): boolean =>
  Object.entries(values).every(([name, wanted]) => {
    const value = Object.hasOwn(event, name) ? event[name] : undefined
    return typeof value === 'string' && name !== 'data' && fit(value, wanted)
  })
