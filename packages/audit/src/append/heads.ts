// The statements on audit.head: one row per chain, moved only inside audit.append.
import { run } from '../database.ts'
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
export function readHeads(db: Database): Promise<ChainHead[]> {
  return run<ChainHead>(
    db,
    'read_heads',
    `select chain, origin, epoch, shard, shards, size, last_hash as "lastHash",
       (extract(epoch from last_recorded_at) * 1000000)::bigint as "lastMicros"
     from audit.head order by chain`,
  )
}
