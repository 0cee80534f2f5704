// What a verifier found: which rule failed, in which chain, at which record; and, in one table, what each rule means.

/**
 * What a finding comes to. `altered`: the log is not what was recorded. `lost`: something that was recorded is gone.
 * `clock`: a clock was wrong, and nothing was altered. `incomplete`: it cannot be said.
 */
export type Severity = 'altered' | 'lost' | 'clock' | 'incomplete'

/** The worst first: what a log with several findings is called. */
const SEVERITIES: readonly Severity[] = ['altered', 'lost', 'clock', 'incomplete']

/** What the whole log comes to. */
export type LogVerdict = 'verified' | Severity

interface VerdictFacts {
  /** What a command ends with: 3 is not verified, 4 cannot say. */
  readonly exitCode: 0 | 3 | 4
  /** The log event under which a finding is reported; whether it is counted as tampering, and pages somebody. */
  readonly event: 'audit.tamper_detected' | 'audit.clock_wrong' | 'audit.not_proven' | null
  /** For people; a verified log is described by who verified it. */
  readonly sentence: string
}

export const LOG_VERDICTS: Readonly<Record<LogVerdict, VerdictFacts>> = {
  verified: { exitCode: 0, event: null, sentence: 'Verified OK' },
  altered: {
    exitCode: 3,
    event: 'audit.tamper_detected',
    sentence: 'NOT verified: the log, or what proves it, was altered',
  },
  lost: {
    exitCode: 3,
    event: 'audit.tamper_detected',
    sentence: 'NOT verified: something that was recorded is gone, and no erasure names it',
  },
  clock: {
    exitCode: 4,
    event: 'audit.clock_wrong',
    sentence: 'A clock was wrong: nothing was altered, and these times do not say when',
  },
  incomplete: {
    exitCode: 4,
    event: 'audit.not_proven',
    sentence:
      'Cannot say: something is missing that it takes to judge, nothing is known to be altered',
  },
}

interface RuleFacts {
  readonly severity: Severity
  /** The line of a verification that it belongs to. */
  readonly check:
    | 'chains'
    | 'record hashes'
    | 'cold store'
    | 'links'
    | 'columns'
    | 'signatures'
    | 'decisions'
    | 'seals'
    | 'anchors'
    | 'payloads'
    | 'times'
  /** What follows from it, and what to do where that is not to keep a copy; for people. */
  readonly consequence: string
}

const altered = (check: RuleFacts['check'], consequence: string): RuleFacts => ({
  severity: 'altered',
  check,
  consequence,
})

/** Exit code, alert and words of every finding follow from its row here, whoever found it. */
export const FINDING_RULES = {
  /** A whole chain is missing. */
  CHAIN_MISSING: altered('chains', 'all records of a chain are gone'),
  /** A head counts fewer chains than there are. */
  CHAIN_COUNT: altered(
    'chains',
    'an auditor that starts could take a removed chain for one that never was',
  ),
  /** The body is not a version 1 record. */
  RECORD_UNREADABLE: altered('record hashes', 'what it said cannot be known'),
  /** The stored hash is not the hash of the stored body. */
  RECORD_HASH: altered('record hashes', 'its bytes were changed after it was recorded'),
  /** The record says that it belongs to another chain. */
  RECORD_ORIGIN: altered('record hashes', 'it was moved here from another chain'),
  /** The record does not link to the hash of the one before it. */
  RECORD_LINK: altered('links', 'the record before it was replaced, or this one was inserted'),
  /** A number of the chain is missing or stands twice. */
  RECORD_SEQ: altered('links', 'records were deleted or inserted here'),
  /** The record's time is not after that of the one before it. */
  RECORD_TIME: altered('links', 'the order of records was changed'),
  /** The record does not follow its task's last record. */
  TASK_LINK: altered('links', 'a record of the same task was removed or inserted'),
  /** The chain's head is not the last stored record. */
  HEAD: altered('links', 'records were cut off the end, or added past the appender'),
  /** A column that queries use differs from the body. */
  RECORD_COLUMNS: altered('columns', 'queries and views show something else than was recorded'),
  /** The idempotency index differs from the body, or has no row for it. */
  RECORD_INDEX: altered('columns', 'a repeated request could be answered wrongly'),
  /** A table, view, function, right or role of the log is not what its migrations made. */
  DEFINITION: altered(
    'columns',
    'queries can show something else than was recorded, or leave something out',
  ),
  /** The database has other migrations, or is of a Postgres that is not known: its schema cannot be compared. */
  DEFINITION_VERSION: {
    severity: 'incomplete',
    check: 'columns',
    consequence:
      'whether queries and views show what was recorded cannot be said by this version of Baton',
  },
  /** A table that follows from the records says something else than they do. */
  STATE: altered(
    'columns',
    'what is held, erased or archived is told otherwise than it was recorded',
  ),
  /** A batch has a wrong signature, or does not end in its record. */
  BATCH_SIGNATURE: altered('signatures', 'somebody other than the auditor wrote these records'),
  /** Records stand outside every signed batch, or in two. */
  BATCH_COVER: altered('signatures', 'records were written past the auditor'),
  /** A record that no seal covers is in a batch of an unknown key, so nobody who is known has seen it. */
  BATCH_FORGED: altered(
    'signatures',
    'no key of the auditor signed these records, and no sealer accepted them: they were written past the auditor. A key that only the database names proves nothing',
  ),
  /** The batch names another key than the records in it do. */
  BATCH_KEY_ID: altered('signatures', 'the row that says who signed was changed'),
  /** Sealed records are in batches of a key that is not known here, or no key is known at all. */
  BATCH_KEY: {
    severity: 'incomplete',
    check: 'signatures',
    consequence:
      'who wrote these records cannot be said here. An earlier key of the auditor belongs in BATON_AUDIT_TRUSTED_KEYS, as whoever keeps its keys has it; never as the database names it',
  },
  /** A decision is not what its person signed, or not that person's to decide; or too few people decided. */
  DECISION: altered(
    'decisions',
    'no gateway and no auditor takes it so: whoever holds the auditor’s keys wrote it past them',
  ),
  /** A decision of which it is not known that its person made it. */
  DECISION_UNPROVEN: {
    severity: 'incomplete',
    check: 'decisions',
    consequence:
      'who decided it cannot be said here. BATON_PEOPLE takes every key that ever decided, with its roles and, where it has one, its end',
  },
  /** An execution holds a receipt of a record that the log does not have. */
  RECEIPT: altered(
    'anchors',
    'records were cut off or rewritten after they were acknowledged, or an older copy of the log was restored',
  ),
  /** The chain has fewer records than were sealed. */
  SEAL_SIZE: altered('seals', 'sealed records were cut off the end'),
  /** The records up to a seal are not the ones that were sealed. */
  SEAL_ROOT: altered('seals', 'sealed records were rewritten, with valid hashes'),
  /** The copies of the seal log have a gap, or an entry that cannot follow the one before it. */
  SEAL_LOG: altered('seals', 'the copies of the seals were changed'),
  /** A checkpoint has no signature of the sealer. */
  SEAL_SIGNATURE: altered('seals', 'somebody other than the sealer wrote this seal'),
  /** A key signed that had been handed over, or somebody handed the log over who could not. */
  SEAL_KEY: altered(
    'seals',
    'a key of the seal log signed beyond its hand-over, or was handed over without both keys: somebody has a key who should not, and seals behind the last hand-over that holds are a fork',
  ),
  /** The database knows, or the sealer knows, of seals that the database does not have. */
  SEAL_GONE: altered(
    'seals',
    'seals that were signed are gone: they were deleted, or an older copy of the database was restored',
  ),
  /** The database's copy of a checkpoint is not what the sealer signed, is older, or is gone. */
  SEAL_COPY: altered(
    'seals',
    'the copies by which records are called sealed or witnessed were changed; what is called so may be less',
  ),
  /** The sealer signed another seal log than the database has. */
  SEAL_STATE: altered(
    'seals',
    'the seal log in the database is not the one that the sealer signed',
  ),
  /** An anchor outside the database knows a longer, or another, seal log. */
  SEAL_ANCHOR: altered(
    'anchors',
    'an older copy of the database was restored, or the sealer’s key signed a fork',
  ),
  /** An anchor knows nothing of a seal log that it has acknowledged. */
  ANCHOR_MISSING: altered(
    'anchors',
    'what was kept outside the database is gone: somebody removed it, or it is not the anchor that the sealer uses',
  ),
  /** An anchor knows less of the seal log than it has acknowledged. */
  ANCHOR_CUT: altered(
    'anchors',
    'what was kept outside the database was cut, or replaced by an older copy',
  ),
  /** A task has more, fewer or other records than the signed map of tasks says. */
  TASK_END: altered('links', 'records of a task were cut off its end, added to it, or all removed'),
  /** The copy of the map of tasks is not the one whose root was signed. */
  TASK_MAP: altered(
    'seals',
    'whether a task lost its end cannot be seen there; the sealer makes the map anew when it starts',
  ),
  /** A bundle or hash tile that should stand in the cold store does not. */
  TILE_MISSING: altered(
    'cold store',
    'what was moved to the cold store is gone from it, or the store is not named',
  ),
  /** A bundle or hash tile of the cold store cannot be decoded. */
  TILE_UNREADABLE: altered('cold store', 'an object of the cold store was cut or changed'),
  /** A bundle, its hash tile and the signed root do not agree. */
  TILE_HASH: altered('cold store', 'an object of the cold store was changed'),
  /** A segment that the record names is not stored. */
  PAYLOAD_MISSING: {
    severity: 'lost',
    check: 'payloads',
    consequence: 'message text is gone without an erasure',
  },
  /** A stored segment does not open, or is not what the record committed to. */
  PAYLOAD_MISMATCH: altered('payloads', 'message text was changed after it was recorded'),
  /** A segment is stored that the record does not name. */
  PAYLOAD_UNEXPECTED: altered('payloads', 'text was added that nobody recorded'),
  /** The key of a segment's subject is gone. */
  PAYLOAD_KEY: {
    severity: 'lost',
    check: 'payloads',
    consequence:
      'a person’s key is gone from the vault without an erasure, and their texts with it; restore it from a backup of the vault',
  },
  /** A record is dated later than every clock that was asked. */
  CLOCK: {
    severity: 'clock',
    check: 'times',
    consequence:
      'the auditor’s clock was ahead when it was recorded. Order and content are proven, the time is not; later records follow it by a microsecond each until the clocks have passed it',
  },
} as const satisfies Readonly<Record<string, RuleFacts>>

export type FindingRule = keyof typeof FINDING_RULES

export interface Finding {
  readonly origin: string
  /** The first bad record; null when the finding is about the chain as a whole. */
  readonly seq: number | null
  readonly rule: FindingRule
  /** One sentence without any stored text. */
  readonly message: string
}

/** What findings of these rules come to, together. */
export function verdictOf(rules: Iterable<FindingRule>): LogVerdict {
  const found = new Set<Severity>([...rules].map((rule) => FINDING_RULES[rule].severity))
  return SEVERITIES.find((severity) => found.has(severity)) ?? 'verified'
}

/** Findings by what they come to, for whoever reports them. */
export const bySeverity = (
  findings: readonly Finding[],
): ReadonlyMap<Severity, readonly Finding[]> =>
  Map.groupBy(findings, ({ rule }) => FINDING_RULES[rule].severity)
