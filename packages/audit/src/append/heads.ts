// What is read of audit.head: one row per chain, moved only inside audit.append.
import { micros } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'

export interface ChainHead {
  readonly chain: number
  readonly origin: string
  readonly epoch: number
  readonly shard: number
  /** How many chains the epoch has. */
  readonly shards: number
  readonly size: number
  readonly lastHash: Buffer
  /** Microseconds since 1970. */
  readonly lastMicros: number
}

/** Every chain of every epoch, in order of chain. */
export const readHeads = (db: Database): Promise<ChainHead[]> =>
  run(
    db,
    'read_heads',
    audit
      .selectFrom('audit.head')
      .select(['chain', 'origin', 'epoch', 'shard', 'shards', 'size', 'last_hash as lastHash'])
      .select(({ ref }) => micros(ref('last_recorded_at')).as('lastMicros'))
      .orderBy('chain'),
  )
