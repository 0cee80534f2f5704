// Postgres as every database of Baton is used: bounded connections, classified errors, migrations, sets as columns.
export { connectTo, hasCode } from './connect.ts'
export type { Database, Pool, PoolOptions, RunStatement, Snapshot } from './connect.ts'
export {
  applyMigrations,
  ensureDatabase,
  boundRole,
  closeMaintenanceDatabases,
  ensureRole,
  listMigrations,
  locateDatabase,
  resetRole,
  withAdmin,
} from './migrate.ts'
export type { Admin, NamedMigration } from './migrate.ts'
export { planMigrations } from './plan-migrations.ts'
export type { PlannedMigration, TableChange } from './plan-migrations.ts'
export {
  bool,
  columns,
  float8,
  int2,
  int4,
  int8,
  jsonb,
  nullable,
  text,
  timestamptz,
  uuid,
} from './columns.ts'
export type { Columns, ColumnType } from './columns.ts'
export { BINARY } from './binary-columns.ts'
export { copyOut } from './copy-out.ts'
export { identifyServer, takeBaseBackup, withWalSender } from './base-backup.ts'
export type { BaseBackup, ServerPosition, Sink } from './base-backup.ts'
export { dropSlot, followWal } from './follow-wal.ts'
export type { WalFollowing } from './follow-wal.ts'
export { RESTORED_SETTING, refuseUnfinishedRestore, UNFINISHED_RESTORE } from './restored.ts'
export {
  formatLsn,
  isHistoryName,
  listWalFiles,
  WAL_SEGMENT_BYTES_USUAL,
  readLsn,
  segmentBytesOf,
  walFileName,
} from './wal-files.ts'
export type { WalFile } from './wal-files.ts'
export type { CopyFields } from './copy-out.ts'
export { ofTenant } from './tenant-sessions.ts'
export { rewriteTables } from './rewrite-tables.ts'
export type { RewriteBounds, Rewritten } from './rewrite-tables.ts'
export { createSizeWatch } from './database-size.ts'
export { STORAGE_LEFT } from './storage-left.ts'
export type { StorageLeft } from './storage-left.ts'
export { waitsForStandby } from './servers.ts'
export { listen } from './listen.ts'
export type { Listener } from './listen.ts'
