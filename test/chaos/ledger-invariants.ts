// What must hold of the log whatever was killed: nothing acknowledged lost, nothing forked, nothing done without a receipt.
import { createCompactRange, fromHex, toHex } from '@baton/ledger'
import type { Violation } from './check.ts'
import { groupBy } from './evidence.ts'
import type { LedgerEvidence, LogCopy } from './ledger-evidence.ts'

interface LedgerInvariant {
  readonly id: string
  readonly promise: string
  readonly rule: string
  /** What breaks it; empty when it holds. */
  check(evidence: LedgerEvidence): readonly string[]
}

const placeOf = ({ origin, seq }: { origin: string; seq: number }): string => `${origin} ${seq}`
const keyOf = ({ handoffId, epoch }: { handoffId: string; epoch: number }): string =>
  `${handoffId} epoch ${epoch}`

function lost({ acknowledged, records }: LedgerEvidence): readonly string[] {
  const stored = new Map(records.map((record) => [placeOf(record), record]))
  return acknowledged.flatMap((receipt) => {
    const record = stored.get(placeOf(receipt))
    const which = `${placeOf(receipt)} of ${keyOf(receipt)}`
    if (record === undefined) return [`acknowledged and gone: ${which}`]
    if (record.hash !== receipt.recordHash) return [`another record stands there: ${which}`]
    return keyOf(record) === keyOf(receipt) ? [] : [`the receipt of another's record: ${which}`]
  })
}

function contradicting({ acknowledged }: LedgerEvidence): readonly string[] {
  const byPlace = groupBy(acknowledged, placeOf)
  const byKey = groupBy(acknowledged, keyOf)
  return [
    ...[...byPlace]
      .filter(([, ofOne]) => new Set(ofOne.map(({ recordHash }) => recordHash)).size > 1)
      .map(([place]) => `two receipts for one place: ${place}`),
    ...[...byKey]
      .filter(([, ofOne]) => new Set(ofOne.map(placeOf)).size > 1)
      .map(([key]) => `one entry acknowledged at two places: ${key}`),
  ]
}

function equivocations({ checkpoints, foreignNotes }: LedgerEvidence): readonly string[] {
  const bySize = groupBy(checkpoints, ({ origin, size }) => `${origin} at ${size}`)
  const forked = [...bySize].flatMap(([which, seen]) => {
    if (new Set(seen.map(({ root }) => root)).size < 2) return []
    return [`two roots were signed: ${which}, seen by ${seen.map(({ from }) => from).join(', ')}`]
  })
  return [...forked, ...foreignNotes]
}

/** The root over the first leaves, for each of the sizes that the log has reached. */
function rootsAt({ leaves }: LogCopy, sizes: ReadonlySet<number>): ReadonlyMap<number, string> {
  const tree = createCompactRange()
  const roots = new Map([[0, toHex(tree.root())]])
  for (const leaf of leaves) {
    tree.append(fromHex(leaf) ?? new Uint8Array(32))
    if (sizes.has(tree.size)) roots.set(tree.size, toHex(tree.root()))
  }
  return roots
}

function notPrefixes({ checkpoints, hot }: LedgerEvidence): readonly string[] {
  const logs = new Map(hot.map((log) => [log.origin, log]))
  return [...groupBy(checkpoints, ({ origin }) => origin)].flatMap(([origin, seen]) => {
    const log = logs.get(origin) ?? { origin, leaves: [] }
    const roots = rootsAt(log, new Set(seen.map(({ size }) => size)))
    return seen.flatMap(({ from, size, root }) => {
      const now = roots.get(size)
      const which = `${origin} at ${size}, seen by ${from}`
      if (now === undefined) return [`the log is shorter than what was signed: ${which}`]
      return now === root ? [] : [`the log is not what was signed: ${which}`]
    })
  })
}

function tiersApart({ hot, cold }: LedgerEvidence): readonly string[] {
  const logs = new Map(hot.map(({ origin, leaves }) => [origin, leaves]))
  return cold.flatMap(({ origin, leaves }) => {
    const stored = logs.get(origin) ?? []
    const at = leaves.findIndex((leaf, seq) => leaf !== stored[seq])
    return at < 0 ? [] : [`the cold store holds something else: ${origin} ${at}`]
  })
}

function unreceipted({ started, records, held }: LedgerEvidence): readonly string[] {
  const decisions = groupBy(
    records.filter(({ event }) => event === 'HANDOFF_ACCEPTED'),
    keyOf,
  )
  const receipts = new Map(held.map((receipt) => [keyOf(receipt), receipt.hash]))
  return started.flatMap((execution) => {
    const which = keyOf(execution)
    const [decision, ...others] = decisions.get(which) ?? []
    if (decision === undefined) return [`executed without a record: ${which}`]
    if (others.length > 0) return [`${others.length + 1} decision records: ${which}`]
    const receipt = receipts.get(which)
    if (receipt === undefined || receipt === decision.hash) return []
    return [`${receipt === null ? 'executed without' : 'holds another'} receipt: ${which}`]
  })
}

/** A campaign in which nothing happened shows nothing. */
function unseen(evidence: LedgerEvidence): readonly string[] {
  const { acknowledged, checkpoints, started, cold } = evidence
  const seen = new Set(checkpoints.map(({ from }) => from))
  return [
    ...(acknowledged.length > 0 ? [] : ['no append was acknowledged']),
    ...(started.length > 0 ? [] : ['no agent executed']),
    ...(cold.length > 0 ? [] : ['nothing was archived']),
    ...SEEN_BY.filter((from) => !seen.has(from)).map(
      (from) => `no checkpoint was seen by: ${from}`,
    ),
  ]
}

const SEEN_BY = ['anchor', 'auditor', 'sealer state', 'database']

function uncovered({ coverage, records, verified }: LedgerEvidence): readonly string[] {
  const behind = coverage.flatMap(({ origin, size, ...counts }) =>
    Object.entries(counts)
      .filter(([, count]) => count !== size)
      .map(([what, count]) => `${what} up to ${count} of ${size}: ${origin}`),
  )
  const unread = Object.entries(verified)
    .filter(([, count]) => count < records.length)
    .map(([what, count]) => `${what}: ${count} of ${records.length} records were read`)
  return [...behind, ...unread]
}

export const LEDGER_INVARIANTS: readonly LedgerInvariant[] = [
  {
    id: 'L1',
    promise: 'I10',
    rule: 'every acknowledged record stands where its receipt says',
    check: lost,
  },
  { id: 'L2', promise: 'I10', rule: 'no two receipts contradict each other', check: contradicting },
  {
    id: 'L3',
    promise: 'I10',
    rule: 'no two roots are signed for one size of a log',
    check: equivocations,
  },
  {
    id: 'L4',
    promise: 'I10',
    rule: 'the log extends every checkpoint that anybody has seen',
    check: notPrefixes,
  },
  {
    id: 'L5',
    promise: 'I3',
    rule: 'every execution has one record of its epoch, and holds its receipt',
    check: unreceipted,
  },
  {
    id: 'L6',
    promise: 'I10',
    rule: 'both tiers verify, and a scrub finds nothing',
    check: ({ findings }) => findings,
  },
  { id: 'L7', promise: 'I10', rule: 'the cold store holds the same logs', check: tiersApart },
  {
    id: 'L8',
    promise: 'I10',
    rule: 'in the end everything is sealed, witnessed, archived and read again',
    check: uncovered,
  },
  {
    id: 'L9',
    promise: 'I3',
    rule: 'the log has every receipt that an execution holds',
    check: ({ unreconciled }) => unreconciled,
  },
  {
    id: 'L10',
    promise: 'I10',
    rule: 'no service takes a crash for tampering',
    check: ({ alarms }) => alarms,
  },
  { id: 'L11', promise: 'I10', rule: 'there was something to check', check: unseen },
]

/** Everything that is wrong, the findings of the other checker included; empty when all hold. */
export const checkLedger = (evidence: LedgerEvidence): readonly Violation[] => [
  ...LEDGER_INVARIANTS.flatMap(({ id, promise, rule, check }) =>
    check(evidence).map((what) => ({ id, promise, rule, what })),
  ),
  ...evidence.delivery,
]
