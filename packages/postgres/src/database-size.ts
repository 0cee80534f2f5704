// Shows how large a database is, as its server counts the files of it.
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Database } from './connect.ts'

interface SizeWatchOptions {
  readonly db: Database
  readonly sizes: { with(labels: { readonly database: string }): { set(bytes: number): void } }
  readonly logger: Logger
}

const EVERY_MS = 60_000
// Takes some milliseconds, and no right but to connect.
const SIZE =
  'select current_database()::text as database, pg_database_size(current_database()) as bytes'

/** Once a minute, from the start on. */
export function createSizeWatch({ db, sizes, logger }: SizeWatchOptions): Service {
  return every({
    name: 'size-watch',
    everyMs: EVERY_MS,
    async run() {
      const statement = { name: 'database_size', text: SIZE }
      const { rows } = await db.query<{ database: string; bytes: number }>(statement)
      for (const { database, bytes } of rows) sizes.with({ database }).set(bytes)
    },
    failed: (error) => logger.warn({ event: 'database.unmeasured', code: codeOf(error) }),
  })
}
