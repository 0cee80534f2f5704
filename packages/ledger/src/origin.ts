// The name of a chain says whose it is, and every record carries it: no record fits another chain.
import { LedgerError } from './ledger-error.ts'

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
