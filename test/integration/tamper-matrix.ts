// The 36 rows of the tamper matrix, and the tests of rows whose attack is not an edit of this one log.
export interface MatrixRow {
  readonly id: string
  readonly attack: string
  readonly caughtBy: string
  /** Tests elsewhere, by file and the start of their title; a title that is gone fails the matrix. */
  readonly elsewhere?: readonly (readonly [file: string, title: string])[]
}

const TIERS = 'test/integration/audit-tiers-tamper.test.ts'
const SEALER = 'test/integration/audit-seals-sealer.test.ts'
const WITNESS = 'test/integration/audit-seals-witness.test.ts'
const ROLES = 'test/integration/audit-roles.test.ts'
const ERASURE = 'test/integration/audit-erasure.test.ts'
const COLD_ERASURE = 'test/integration/audit-erasure-cold.test.ts'
const SEGMENTS = 'packages/ledger/src/verify-segments.test.ts'
const CHAIN = 'packages/ledger/src/verify-chain.test.ts'
const NOTES = 'packages/ledger/src/note/note.test.ts'
const BUNDLE = 'packages/ledger/fixtures/bundle-attacks.ts'
const FURTHER = 'packages/ledger/src/bundle/tamper.test.ts'
const VECTORS = 'packages/ledger/src/tree/vectors.test.ts'

export const MATRIX: readonly MatrixRow[] = [
  {
    id: 'T01',
    attack: 'flip each bit of a body',
    caughtBy: 'leaf hash',
    elsewhere: [
      [CHAIN, 'T01 every flipped bit of a body'],
      [TIERS, 'T22 an edited record of a bundle'],
    ],
  },
  { id: 'T02', attack: 'flip a stored hash', caughtBy: 'leaf hash' },
  { id: 'T03', attack: 'flip the link inside a body', caughtBy: 'link' },
  { id: 'T04', attack: 'flip a stored checkpoint', caughtBy: 'note signature' },
  { id: 'T05', attack: 'change body and hash together', caughtBy: 'next link, batch, root' },
  { id: 'T06', attack: 'the same on the last, unsealed record', caughtBy: 'receipt' },
  { id: 'T07', attack: 'change only an index column', caughtBy: 'column recomputation' },
  { id: 'T08', attack: 'delete a middle record', caughtBy: 'seq, task link' },
  { id: 'T09', attack: 'delete the first record', caughtBy: 'genesis rule' },
  { id: 'T10', attack: 'delete the last record', caughtBy: 'head, receipt' },
  { id: 'T11', attack: 'truncate and set the head back', caughtBy: 'seal size, receipts' },
  { id: 'T12', attack: 'rewrite a suffix with valid hashes', caughtBy: 'sealed root' },
  { id: 'T13', attack: 'rewrite a chain from genesis', caughtBy: 'sealed root' },
  { id: 'T14', attack: 'remove a whole chain', caughtBy: 'seal lists all chains' },
  { id: 'T15', attack: 'insert a record, or a seq twice', caughtBy: 'seq rule' },
  { id: 'T16', attack: 'swap two records, or their bodies', caughtBy: 'link, seq' },
  { id: 'T17', attack: 'a record of another chain or environment', caughtBy: 'origin in the body' },
  { id: 'T18', attack: 'an old but authenticated checkpoint', caughtBy: 'anchor, heartbeat' },
  {
    id: 'T19',
    attack: 'fork: two checkpoints of one size',
    caughtBy: 'witness 409 and 422, seal log',
    elsewhere: [[WITNESS, 'T19 422 for another root of the same size']],
  },
  {
    id: 'T20',
    attack: 'sealer state deleted or rolled back',
    caughtBy: 'refuses below the anchor',
    elsewhere: [
      [SEALER, 'T20 the state file'],
      [SEALER, 'rolled back: nothing is signed'],
    ],
  },
  { id: 'T21', attack: 'restore yesterday’s backup', caughtBy: 'anchor, seal size' },
  {
    id: 'T22',
    attack: 'edit, drop, swap or cut a cold bundle',
    caughtBy: 'tile hash',
    elsewhere: [
      [TIERS, 'T22 an edited record'],
      [TIERS, 'T22 a bundle that is gone'],
      [TIERS, 'T22 two bundles that changed places'],
      [TIERS, 'T22 a bundle that was cut off'],
    ],
  },
  {
    id: 'T23',
    attack: 'edit a hash tile with its bundle',
    caughtBy: 'parent tile, root',
    elsewhere: [
      [TIERS, 'T23 an edited hash tile'],
      [TIERS, 'T23 a hash tile that was edited with its bundle'],
      ['test/integration/audit-evidence.test.ts', 'is proven from the records where a stored hash'],
    ],
  },
  {
    id: 'T24',
    attack: 'delete a payload without an erasure',
    caughtBy: 'missing',
    elsewhere: [
      [ERASURE, 'T24: a payload or a key that is gone'],
      [TIERS, 'payloads that are gone are located'],
      [BUNDLE, 'T24 a text taken away'],
    ],
  },
  {
    id: 'T25',
    attack: 'edit ciphertext, salt or commitment',
    caughtBy: 'GCM tag, commitment',
    elsewhere: [
      [SEGMENTS, 'T25 whatever is edited of a segment'],
      [COLD_ERASURE, 'T25 what is edited beside'],
      [FURTHER, 'T25 a text or a salt that was edited'],
      [FURTHER, 'T25 a commitment that was edited'],
    ],
  },
  {
    id: 'T26',
    attack: 'a record by SQL; an erasure that does not name the segment',
    caughtBy: 'batch signature, list hash',
    elsewhere: [
      [SEALER, 'T26 a record slipped in by SQL'],
      [ERASURE, 'T26: a list that was extended'],
      [BUNDLE, 'T26 an authenticated erasure made to name'],
    ],
  },
  {
    id: 'T27',
    attack: 'leave out a hop, or put in a foreign one',
    caughtBy: 'task link, receipt, end of the task',
    elsewhere: [[BUNDLE, 'T27 the last hop left out, receipts too']],
  },
  {
    id: 'T28',
    attack: 'replace keys or policy inside a bundle',
    caughtBy: 'the auditor’s own policy',
    elsewhere: [[BUNDLE, 'T28, T29 everything signed anew']],
  },
  {
    id: 'T29',
    attack: 'wrong key of the same name, id or type',
    caughtBy: 'note rules',
    elsewhere: [
      [NOTES, 'T29 the same bytes under another name'],
      [NOTES, 'T29 a signature under another name or id'],
      [BUNDLE, 'T28, T29 everything signed anew'],
    ],
  },
  { id: 'T30', attack: 'a body in another form', caughtBy: 'receipt, root, thorough verification' },
  {
    id: 'T31',
    attack: 'an inner node offered as a leaf',
    caughtBy: 'prefixes',
    elsewhere: [[VECTORS, 'T31 an inner node']],
  },
  { id: 'T32', attack: 'a wrong proof', caughtBy: 'proof verifier' },
  {
    id: 'T33',
    attack: 'everything a writer’s role could try',
    caughtBy: 'Postgres',
    elsewhere: [[ROLES, 'T33 the writer role']],
  },
  {
    id: 'T34',
    attack: 'operational credentials at the audit log',
    caughtBy: 'Postgres, tokens',
    elsewhere: [
      [ROLES, 'cannot connect to the audit database'],
      ['test/integration/audit-refusals.test.ts', 'tokens: none, a wrong one'],
    ],
  },
  {
    id: 'T35',
    attack: 'the clock moved back',
    caughtBy: 'recordedAt never decreases',
    elsewhere: [[CHAIN, 'T35 a record that is earlier']],
  },
  { id: 'T36', attack: 'bytes that are no entry', caughtBy: 'refused at append' },
]
