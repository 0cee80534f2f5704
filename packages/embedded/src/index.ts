// What Baton needs on a machine that has nothing: Postgres and Redis, without root and without Docker, certificates,
// and a place for the processes, ports and secrets of an instance.
export {
  belongTogether,
  describeCertificate,
  isSignedBy,
  makeAuthority,
  makeCertificate,
} from './certificates.ts'
export type { Certified } from './certificates.ts'
export { startChild } from './child-service.ts'
export type { ChildService } from './child-service.ts'
export {
  endLeftovers,
  listLeftovers,
  forgetInstance,
  runningInstance,
  untilStopped,
  watchOwner,
  writeInstance,
} from './instance-record.ts'
export type { InstanceRecord } from './instance-record.ts'
export { choosePorts, freePort } from './ports.ts'
export { embeddedPostgresMajor } from './postgres/binaries.ts'
export { hasPostgresData } from './postgres/home.ts'
export { replacePostgresData } from './postgres/replace-data.ts'
export { discardPostgres, startPostgres } from './postgres/start-postgres.ts'
export type { RunningPostgres } from './postgres/start-postgres.ts'
export {
  discardRedis,
  endUnusedRedis,
  findRedis,
  startOrFetchRedis,
  startRedis,
} from './redis/start-redis.ts'
export type { RunningRedis, Unavailable } from './redis/start-redis.ts'
export { supervise } from './supervise.ts'
export type { End, Seen, Supervision } from './supervise.ts'
export type { ServerEvent, ServerNotify } from './supervise-server.ts'
export type { ServerTls } from './server-tls.ts'
export { ensureSecretFile, newSecret, readSecretFile } from './secret-files.ts'
export { isAlive, withLock } from '@baton/infra/lock'
export { machineTrouble } from '@baton/infra/machine-trouble'
