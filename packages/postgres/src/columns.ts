// Sets as columns: one declaration gives the `unnest` of a statement and the array parameters of its rows.

/** One column of a set: its SQL type, and the array parameter that holds its values. */
export interface ColumnType<Value> {
  readonly sql: string
  readonly encode: (values: readonly (Value | null)[]) => unknown
}

type Shape = Readonly<Record<string, ColumnType<never>>>

/** What a row of the set must have; more is left out. */
export type RowOf<Set> = Set extends Columns<infer Of> ? SetRow<Of> : never

type SetRow<Of> = {
  readonly [Key in keyof Of]: Of[Key] extends ColumnType<infer Value> ? Value : never
}

interface Place {
  /** How many parameters of the statement stand before those of the set. */
  readonly after?: number
  /** The name of a further column that numbers the rows from 1. */
  readonly ordinality?: string
}

export interface Columns<Of> {
  /** How many parameters the set takes. */
  readonly width: number
  /** `$1::uuid[], $2::integer[]`, for a statement that calls a function with them. */
  parameters(place?: Pick<Place, 'after'>): string
  /** `unnest($1::uuid[], $2::integer[]) as i (handoff_id, epoch)`; the names are the keys in snake case. */
  unnest(alias: string, place?: Place): string
  /** The parameters of these rows, in the order of the columns. */
  values(rows: readonly SetRow<Of>[]): unknown[]
}

/** Declares a set: the order of its columns is kept here and nowhere else. */
export function columns<Of extends Shape>(of: Of): Columns<Of> {
  const keys = Object.keys(of)
  const types = keys.map((key) => of[key] as ColumnType<unknown>)
  const names = keys.map(snakeCase)
  const parameters = ({ after = 0 }: Place = {}): string =>
    types.map(({ sql }, index) => `$${after + index + 1}::${sql}[]`).join(', ')
  return {
    width: keys.length,
    parameters,
    unnest(alias, place = {}) {
      const { ordinality } = place
      const numbered = ordinality === undefined ? '' : ' with ordinality'
      const all = ordinality === undefined ? names : [...names, ordinality]
      return `unnest(${parameters(place)})${numbered} as ${alias} (${all.join(', ')})`
    },
    values: (rows) =>
      types.map(({ encode }, index) => {
        const key = keys[index] as keyof Of
        return encode(rows.map((row) => row[key]))
      }),
  }
}

const snakeCase = (key: string): string =>
  key.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase()

/** The same column where a row may have no value. */
export const nullable = <Value>({ sql, encode }: ColumnType<Value>): ColumnType<Value | null> => ({
  sql,
  encode,
})

/** The driver writes these as text, which for short values is as quick as anything. */
const asText = <Value>(sql: string): ColumnType<Value> => ({ sql, encode: (values) => values })

export const uuid = asText<string>('uuid')
export const text = asText<string>('text')
export const int2 = asText<number>('smallint')
export const int4 = asText<number>('integer')
export const int8 = asText<number>('bigint')
export const float8 = asText<number>('float8')
export const bool = asText<boolean>('boolean')
/** RFC 3339, or a Date. */
export const timestamptz = asText<string | Date>('timestamptz')
/** JSON as text. */
export const jsonb = asText<string>('jsonb')
