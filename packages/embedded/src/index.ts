// The servers Baton needs on a machine that has none: Postgres and Redis, without root and without Docker.
export { discardPostgres, startPostgres } from './postgres/start-postgres.ts'
export type { PostgresOptions, RunningPostgres } from './postgres/start-postgres.ts'
export { discardRedis, findRedis, startRedis } from './redis/start-redis.ts'
export type { FoundRedis, RedisOptions, RunningRedis, Unavailable } from './redis/start-redis.ts'
export { freePort } from './server-process.ts'
export { holderOf, isAlive, withLock } from '@baton/infra/lock'
