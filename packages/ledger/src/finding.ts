// What a verifier found: which rule failed, in which chain, at which record.

export type FindingRule =
  /** The body is not a version 1 record. */
  | 'RECORD_UNREADABLE'
  /** The stored hash is not the hash of the stored body. */
  | 'RECORD_HASH'
  /** The record does not link to the hash of the one before it. */
  | 'RECORD_LINK'
  /** A number of the chain is missing or stands twice. */
  | 'RECORD_SEQ'
  /** The record says that it belongs to another chain. */
  | 'RECORD_ORIGIN'
  /** The record's time is not after that of the one before it. */
  | 'RECORD_TIME'
  /** A column that queries use differs from the body. */
  | 'RECORD_COLUMNS'
  /** The idempotency index differs from the body, or has no row for it. */
  | 'RECORD_INDEX'
  /** The record does not follow its task's last record. */
  | 'TASK_LINK'
  /** The chain's head is not the last stored record. */
  | 'HEAD'
  /** A batch has a wrong signature, or does not end in its record. */
  | 'BATCH_SIGNATURE'
  /** Batches are signed with a key that is not known, so nothing follows from their signatures. */
  | 'BATCH_KEY'
  /** Records stand outside every signed batch, or in two. */
  | 'BATCH_COVER'
  /** A segment that the record names is not stored. */
  | 'PAYLOAD_MISSING'
  /** A stored segment does not open, or is not what the record committed to. */
  | 'PAYLOAD_MISMATCH'
  /** A segment is stored that the record does not name. */
  | 'PAYLOAD_UNEXPECTED'
  /** The key of a segment's subject is gone. */
  | 'PAYLOAD_KEY'
  /** A whole chain is missing. */
  | 'CHAIN_MISSING'
  /** The chain has fewer records than were sealed. */
  | 'SEAL_SIZE'
  /** The records up to a seal are not the ones that were sealed. */
  | 'SEAL_ROOT'
  /** The copies of the seal log have a gap, an entry that cannot follow, or one that was not signed. */
  | 'SEAL_LOG'
  /** A checkpoint has no signature of the sealer. */
  | 'SEAL_SIGNATURE'
  /** An anchor outside the database knows a longer, or another, seal log. */
  | 'SEAL_ANCHOR'
  /** A task has more, fewer or other records than the signed map of tasks says. */
  | 'TASK_END'
  /** The copy of the map of tasks is not the one whose root was signed. */
  | 'TASK_MAP'
  /** A bundle or hash tile that should stand in the cold store does not. */
  | 'TILE_MISSING'
  /** A bundle or hash tile of the cold store cannot be decoded. */
  | 'TILE_UNREADABLE'
  /** A bundle, its hash tile and the signed root do not agree. */
  | 'TILE_HASH'
  /** A table, view, function, right or role of the log is not what its migrations made. */
  | 'DEFINITION'
  /** A table that follows from the records says something else than they do. */
  | 'STATE'
  /** The database has other migrations, or is of a Postgres that is not known: its schema cannot be compared. */
  | 'DEFINITION_VERSION'

export interface Finding {
  readonly origin: string
  /** The first bad record; null when the finding is about the chain as a whole. */
  readonly seq: number | null
  readonly rule: FindingRule
  /** One sentence without any stored text. */
  readonly message: string
}
