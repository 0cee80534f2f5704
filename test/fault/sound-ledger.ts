// The evidence of a small log in which everything holds, for tests that break it in one place.
import { createCompactRange, fromHex, hashLeaf, toHex } from '@baton/ledger'
import type {
  AcknowledgedAppend,
  LedgerEvidence,
  LoggedRecord,
  SeenCheckpoint,
} from '../chaos/ledger-evidence.ts'

export const CHAIN = 'baton/test/1/s0'
export const SEALS = 'baton/test/seals'

const leaf = (text: string): string => toHex(hashLeaf(Buffer.from(text)))

export const rootOf = (leaves: readonly string[]): string => {
  const tree = createCompactRange()
  for (const hash of leaves) tree.append(fromHex(hash) ?? new Uint8Array(32))
  return toHex(tree.root())
}

/** Three records: h1 was appended directly, h2 is a handoff that was executed and completed. */
export const RECORDS: readonly LoggedRecord[] = [
  { handoffId: 'h1', event: 'HANDOFF_ACCEPTED' },
  { handoffId: 'h2', event: 'HANDOFF_ACCEPTED' },
  { handoffId: 'h2', event: 'EXECUTION_COMPLETED' },
].map((record, seq) => ({ ...record, seq, epoch: 1, origin: CHAIN, hash: leaf(`record ${seq}`) }))

export const CHAIN_LEAVES = RECORDS.map(({ hash }) => hash)
export const SEAL_LEAVES = [leaf('seal 0'), leaf('seal 1')]

export const receipt = (changes: Partial<AcknowledgedAppend> = {}): AcknowledgedAppend => ({
  handoffId: 'h1',
  epoch: 1,
  origin: CHAIN,
  seq: 0,
  recordHash: leaf('record 0'),
  begunAt: 1_000,
  at: 1_010,
  ...changes,
})

export const checkpoint = (changes: Partial<SeenCheckpoint> = {}): SeenCheckpoint => ({
  from: 'auditor',
  origin: CHAIN,
  size: 2,
  root: rootOf(CHAIN_LEAVES.slice(0, 2)),
  ...changes,
})

const seals = (from: string): SeenCheckpoint => ({
  from,
  origin: SEALS,
  size: 2,
  root: rootOf(SEAL_LEAVES),
})

export const SOUND_LEDGER: LedgerEvidence = {
  acknowledged: [receipt()],
  records: RECORDS,
  hot: [
    { origin: SEALS, leaves: SEAL_LEAVES },
    { origin: CHAIN, leaves: CHAIN_LEAVES },
  ],
  cold: [{ origin: CHAIN, leaves: CHAIN_LEAVES }],
  checkpoints: [checkpoint(), seals('anchor'), seals('sealer state'), seals('database')],
  foreignNotes: [],
  started: [{ handoffId: 'h2', epoch: 1 }],
  held: [{ handoffId: 'h2', epoch: 1, hash: leaf('record 1') }],
  unreconciled: [],
  coverage: [{ origin: CHAIN, size: 3, sealed: 3, witnessed: 3, archived: 3 }],
  findings: [],
  verified: { whole: 3, scrubbed: 3 },
  alarms: [],
  delivery: [],
}
