// How a Baton process runs: settings, logs, errors, batching, breakers, start and stop.
export { BatonError, transient, permanent, defect, kindOf, codeOf } from './errors.ts'
export type { ErrorCode } from './errors.ts'
export { createBatcher } from './batcher.ts'
export type { Batcher } from './batcher.ts'
export { createBreaker } from './breaker.ts'
export { createLogger } from './logger.ts'
export type { Logger } from './logger.ts'
export { openLastingLog } from './lasting-log.ts'
export { fullJitterMs } from './backoff.ts'
export { crashPoint } from './crash-point.ts'
export { createDiskWatch } from './disk-watch.ts'
export { watchDatabaseCertificates } from './certificate-ends.ts'
export { secureDatabaseUrls } from './database-urls.ts'
export { namesOfServers, readServerList, serversOfUrl } from './server-list.ts'
export type { ServerAddress } from './server-list.ts'
export { every } from './every.ts'
export type { Periodic } from './every.ts'
export { createFileLook } from './followed-file.ts'
export { readNamedFile } from './named-file.ts'
export { nearestNames } from './nearest-names.ts'
export { describeRedis, readRedisAddress, redisAddressOf } from './redis-address.ts'
export type { ClusterRedis, RedisAddress, SentinelRedis } from './redis-address.ts'
export { readRegularFile, readRegularFileNow } from './regular-file.ts'
export { replaceFile, syncFolder, writeThrough } from './replace-file.ts'
export {
  ISSUER_SETTINGS,
  OPS_SETTINGS,
  PEOPLE_SETTINGS,
  PROCESS_SETTINGS,
} from './process-settings.ts'
export { isLoopback, refusePlainListening, refusePlaintext, refusePlainUrl } from './plaintext.ts'
export { within } from './within.ts'
export { serveTasks } from './thread.ts'
export { createThreads } from './threads.ts'
export type { TaskOutcome, Threads } from './threads.ts'
export { shareReading } from './share-reading.ts'
export { createTurnstile } from './turnstile.ts'
export { closing, describeStartFailure } from './service.ts'
export type { Life, Service } from './service.ts'
export {
  readSettings,
  readVariable,
  withFilesRead,
  describeSettings,
  text,
  optionalText,
  secret,
  optionalSecret,
  optionalForeignSecret,
  integer,
  flag,
  oneOf,
  url,
  optionalRedisUrl,
  urls,
  optionalUrl,
  optionalUrls,
} from './settings.ts'
export { createTls, NO_TLS, readTls, TLS_SETTINGS, TLS_VERSION_MIN, tlsClients } from './tls.ts'
export type { Tls, TlsClients, TlsMaterial } from './tls.ts'
export type { SettingKind, SettingRow, Settings, SettingsSpec } from './settings.ts'
