// Statements written with kysely: what they answer follows from the tables. Nothing here runs one; `run` does.
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely'
import type { Expression, RawBuilder } from 'kysely'
import type { ColumnType } from './columns.ts'

export { sql }
export type { RawBuilder }
export type { Generated, NotNull } from 'kysely'

/** Writes statements on these tables for `run`; has no connection. */
export const statementsOn = <Tables>(): Kysely<Tables> =>
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })

/** The microseconds since 1970 of a time. */
export const micros = <Time extends Date | null>(
  time: Expression<Time>,
): RawBuilder<Time extends Date ? number : number | null> =>
  sql`(extract(epoch from ${time}) * 1000000)::bigint`

/** For `where(column, '=', anyOf(type, values))`: one of these values, which travel as one array. */
export const anyOf = <Value>(
  { sql: type, encode }: ColumnType<Value>,
  values: readonly Value[],
): RawBuilder<never> => sql`any(${encode(values)}::${sql.raw(type)}[])`

/** For `limit(one)`: written out, so that the plan that is made once knows that one row is wanted. */
export const one = sql.lit(1)
