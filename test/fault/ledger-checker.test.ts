// Each invariant of the ledger campaign's checker notices what it is for, and is silent about a sound log.
import { generateKeyPairSync } from 'node:crypto'
import { createNoteSigner, formatCheckpoint, hashLeaf, signNote } from '@baton/ledger'
import { describe, expect, it } from 'vitest'
import type { LedgerEvidence } from '../chaos/ledger-evidence.ts'
import { checkLedger, LEDGER_INVARIANTS } from '../chaos/ledger-invariants.ts'
import { killPlan } from '../chaos/ledger-kills.ts'
import { openNotes } from '../chaos/ledger-logs.ts'
import {
  CHAIN,
  CHAIN_LEAVES,
  checkpoint,
  receipt,
  RECORDS,
  rootOf,
  SEAL_LEAVES,
  SEALS,
  SOUND_LEDGER,
} from './sound-ledger.ts'

const { checkpoints } = SOUND_LEDGER
const [coverage] = SOUND_LEDGER.coverage
const without = (seq: number) => RECORDS.filter((record) => record.seq !== seq)
const hotWith = (leaves: readonly string[]) => [
  { origin: SEALS, leaves: SEAL_LEAVES },
  { origin: CHAIN, leaves },
]
const other = 'ee'.repeat(32)

const BREACHES: readonly {
  readonly id: string
  readonly what: string
  readonly change: Partial<LedgerEvidence>
}[] = [
  { id: 'L1', what: 'an acknowledged record is gone', change: { records: without(0) } },
  {
    id: 'L1',
    what: 'another record stands at its place',
    change: { acknowledged: [receipt({ recordHash: other })] },
  },
  {
    id: 'L1',
    what: 'the receipt is that of another entry',
    change: { acknowledged: [receipt({ handoffId: 'h9' })] },
  },
  {
    id: 'L2',
    what: 'two receipts name one place',
    change: { acknowledged: [receipt(), receipt({ handoffId: 'h9', recordHash: other })] },
  },
  {
    id: 'L2',
    what: 'an entry that was appended again got another place',
    change: { acknowledged: [receipt(), receipt({ seq: 2 })] },
  },
  {
    id: 'L3',
    what: 'two roots were signed for one size',
    change: { checkpoints: [...checkpoints, checkpoint({ from: 'witness', root: other })] },
  },
  { id: 'L3', what: 'a note is not the sealer’s', change: { foreignNotes: ['not signed'] } },
  {
    id: 'L4',
    what: 'the log was rewritten under a checkpoint',
    change: { hot: hotWith(CHAIN_LEAVES.with(1, other)) },
  },
  {
    id: 'L4',
    what: 'the log was cut below a checkpoint',
    change: { hot: hotWith(CHAIN_LEAVES.slice(0, 1)) },
  },
  {
    id: 'L4',
    what: 'a checkpoint of another branch was seen',
    change: { checkpoints: [...checkpoints, checkpoint({ size: 3, root: rootOf([other]) })] },
  },
  {
    id: 'L4',
    what: 'a checkpoint of a log that is not there was seen',
    change: { checkpoints: [...checkpoints, checkpoint({ origin: 'baton/test/1/s9' })] },
  },
  { id: 'L5', what: 'an execution has no record', change: { records: without(1) } },
  {
    id: 'L5',
    what: 'an execution of a later epoch has no record',
    change: { started: [{ handoffId: 'h2', epoch: 2 }] },
  },
  {
    id: 'L5',
    what: 'an execution holds no receipt',
    change: { held: [{ handoffId: 'h2', epoch: 1, hash: null }] },
  },
  {
    id: 'L5',
    what: 'an execution holds another receipt',
    change: { held: [{ handoffId: 'h2', epoch: 1, hash: other }] },
  },
  {
    id: 'L5',
    what: 'a decision was recorded twice',
    change: {
      records: RECORDS.map((record) => ({ ...record, event: 'HANDOFF_ACCEPTED' })),
    },
  },
  { id: 'L6', what: 'a verifier finds something', change: { findings: ['verify: RECORD_LINK'] } },
  {
    id: 'L7',
    what: 'the cold store holds another record',
    change: { cold: [{ origin: CHAIN, leaves: CHAIN_LEAVES.with(2, other) }] },
  },
  {
    id: 'L7',
    what: 'the cold store holds more than the log',
    change: { cold: [{ origin: CHAIN, leaves: [...CHAIN_LEAVES, other] }] },
  },
  ...(['sealed', 'witnessed', 'archived'] as const).map((what) => ({
    id: 'L8',
    what: `not everything is ${what}`,
    change: { coverage: coverage === undefined ? [] : [{ ...coverage, [what]: 2 }] },
  })),
  {
    id: 'L8',
    what: 'the scrub did not read everything',
    change: { verified: { whole: 3, scrubbed: 2 } },
  },
  { id: 'L9', what: 'a receipt is unknown to the log', change: { unreconciled: ['missing: h2'] } },
  { id: 'L10', what: 'a service cries tampering', change: { alarms: ['sealer-1.log: ...'] } },
  { id: 'L11', what: 'no append was acknowledged', change: { acknowledged: [] } },
  { id: 'L11', what: 'no agent executed', change: { started: [] } },
  { id: 'L11', what: 'nothing was archived', change: { cold: [] } },
  { id: 'L11', what: 'nobody saw a checkpoint', change: { checkpoints: [] } },
]

const broken = (change: Partial<LedgerEvidence>) =>
  new Set(checkLedger({ ...SOUND_LEDGER, ...change }).map(({ id }) => id))

describe('the checker of the log', () => {
  it('finds nothing wrong with a sound log', () => {
    expect(checkLedger(SOUND_LEDGER)).toEqual([])
  })
  it.each(BREACHES)('names $id when $what', ({ id, change }) => {
    expect([...broken(change)]).toContain(id)
  })
  it('has a breach for each of its invariants', () => {
    const ids = LEDGER_INVARIANTS.map(({ id }) => id)
    expect(new Set(BREACHES.map(({ id }) => id))).toEqual(new Set(ids))
  })
  it('takes up what the checker of the handoffs finds', () => {
    const lost = { id: 'I1', promise: 'I2', rule: 'nothing is missing', what: 'lost: h7' }
    expect(checkLedger({ ...SOUND_LEDGER, delivery: [lost] })).toEqual([lost])
  })
})

describe('the notes that were seen', () => {
  const made = () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
    return { publicKey, signer: createNoteSigner({ name: SEALS, pkcs8 }) }
  }
  const root = hashLeaf(Buffer.from('seal'))
  const note = ({ signer }: ReturnType<typeof made>) =>
    signNote(formatCheckpoint({ origin: SEALS, size: 1, root }), [signer])

  it('count as checkpoints only under the sealer’s own key', () => {
    const [sealer, thief] = [made(), made()]
    const seen = [note(sealer), note(thief)].map((text) => ({ from: 'anchor', note: text }))
    const { checkpoints: opened, foreignNotes } = openNotes(seen, sealer.publicKey)
    expect(opened).toMatchObject([{ from: 'anchor', origin: SEALS, size: 1 }])
    expect(foreignNotes).toHaveLength(1)
  })
})

describe('a plan of kills', () => {
  it('is the same for the same seed, and another one for another', () => {
    expect(killPlan(7, 100)).toEqual(killPlan(7, 100))
    expect(killPlan(8, 100)).not.toEqual(killPlan(7, 100))
  })
  it('hits each keeper of the log, and both ways to kill Postgres, already with six', () => {
    const targets = killPlan(7, 6).map(({ target }) => target)
    expect(new Set(targets).size).toBe(6)
  })
})
