// How somebody says by name that a server may lose what it acknowledged; apart, because every command reads them.
import { flag } from '@baton/runtime'

export const UNSAFE_POSTGRES_SETTINGS = {
  BATON_ALLOW_UNSAFE_POSTGRES: flag({
    default: false,
    help: 'Start although fsync, full_page_writes or synchronous_commit is off in Postgres.',
  }),
}

export const UNSAFE_REDIS_SETTINGS = {
  BATON_ALLOW_UNSAFE_REDIS: flag({
    default: false,
    help: 'Start although Redis has no append-only file or evicts keys.',
  }),
}
