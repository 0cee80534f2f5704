// The name of a chain says whose it is, and every record carries it: no record fits another chain.
// Which chain it is follows from the task alone, so that the records of a task have one order.
import { hash } from 'node:crypto'
import { LedgerError } from './ledger-error.ts'
import { uuidBytes } from './uuid.ts'

export interface Origin {
  /** Who runs the log, for example `baton.example.com/audit`; schemeless, no spaces. */
  readonly base: string
  readonly environment: string
  /** Counts the layouts of the log; the number of shards is fixed within one. */
  readonly epoch: number
  readonly shard: number
}

const BASE = /^[a-z0-9](?:[a-z0-9./-]{0,126}[a-z0-9])?$/
const ENVIRONMENT = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/

/** `<base>/<environment>/<epoch>/s<shard>`. Throws BATON_ORIGIN_INVALID. */
export function formatOrigin({ base, environment, epoch, shard }: Origin): string {
  if (!BASE.test(base) || !ENVIRONMENT.test(environment)) {
    const rule = 'an origin takes lower-case letters, digits, "-", and in its base also "." and "/"'
    throw new LedgerError('BATON_ORIGIN_INVALID', rule)
  }
  return `${base}/${environment}/${epoch}/s${shard}`
}

/** The name of the seal log over the chains of one log, whatever their epoch: `<base>/<environment>/seals`. */
export const sealLogOrigin = (chainOrigin: string): string =>
  `${chainOrigin.split('/').slice(0, -2).join('/')}/seals`

/** The chain of a task: SHA-256(16 bytes of taskId) mod shards, from the first 6 bytes of the digest. */
export function shardOf(taskId: string, shards: number): number {
  return hash('sha256', uuidBytes(taskId), 'buffer').readUIntBE(0, 6) % shards
}
