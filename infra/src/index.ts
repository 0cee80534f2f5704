// The servers Baton needs on a machine that has none: Postgres and Redis, without root and without Docker.
export { startPostgres } from './postgres/start-postgres.ts'
export type { PostgresOptions, RunningPostgres } from './postgres/start-postgres.ts'
