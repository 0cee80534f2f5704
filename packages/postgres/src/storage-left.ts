// What the files under a database can still hold of rows that were erased: asked of the server, with no right but to connect.

/** At one moment, after the rows had gone. */
export interface StorageLeft {
  readonly database: string
  readonly measuredAt: Date
  /** Tables that held it. Deleting and vacuuming free places in their files and leave the bytes until the place is used again. */
  readonly tables: number
  readonly tableBytes: number
  /** Old row versions that no vacuum has freed, as the server's statistics count them, about a second late. */
  readonly deadRows: number
  /** Write-ahead log before this position holds it as well. */
  readonly walPosition: string
  /** So much new log at most is written before the server reuses or drops a file it no longer needs. */
  readonly walKeptBytes: number
  /** Whether the server hands its log to an archive, where it stays as long as the operator keeps it. */
  readonly walArchived: boolean
  /** Connected replicas or slots that keep log for one, whichever is more. */
  readonly replicas: number
}

/** The end of a statement over `pg_class c`: tables by their names, partitions with their table. */
export const tablesNamed = (
  names: string,
): string => `from pg_class c where c.relkind = 'r' and exists (
  select from unnest(${names}::text[]) name where c.oid = to_regclass(name)
    or exists (select from pg_inherits i where i.inhrelid = c.oid and i.inhparent = to_regclass(name)))`

/** Takes the names of tables. */
export const STORAGE_LEFT = `
select current_database() as database, clock_timestamp() as "measuredAt", count(*)::integer as tables,
  coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as "tableBytes",
  coalesce(sum(pg_stat_get_dead_tuples(c.oid)), 0)::bigint as "deadRows",
  pg_current_wal_insert_lsn()::text as "walPosition",
  pg_size_bytes(current_setting('max_wal_size')) + pg_size_bytes(current_setting('wal_keep_size')) as "walKeptBytes",
  current_setting('archive_mode') <> 'off' as "walArchived",
  greatest((select count(*) from pg_replication_slots), (select count(*) from pg_stat_replication))::integer as replicas
${tablesNamed('$1')}`
