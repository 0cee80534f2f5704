// The seal log while it is read again: its tree, what it says of each chain, and what is found wrong with it.
import {
  compactRangeFromState,
  createCompactRange,
  equalBytes,
  fromBase64,
  HANDOVER_FAULTS,
  HANDOVERS_MAX,
  hashLeaf,
  readSealEntry,
  resolveSealKeys,
  sealFault,
  singleSealKey,
} from '@baton/ledger'
import type {
  CompactRange,
  Finding,
  FindingRule,
  HandoverEvidence,
  SealEntry,
  SealKeys,
} from '@baton/ledger'
import type { AnchoredHead } from '../seals/anchors/anchor.ts'
import type { SealTarget } from './sealed-roots.ts'

/** Which rule is broken by a head that nobody signed, that knows more entries, or that is of another log. */
interface HeadRules {
  readonly unsigned: FindingRule
  readonly more: FindingRule
  readonly other: FindingRule
}

export interface SealLog {
  /** Remembers the root at a size that something will be compared with. */
  watch(size: number): void
  next(row: { readonly seq: number; readonly body: Uint8Array; readonly note: string }): void
  /** Whose signatures count, by the hand-overs that were read; one that does not hold is a finding, and then the trusted key alone counts. */
  keysFrom(trusted: Uint8Array): SealKeys
  /** What the chains must hold too, although the entry is not among those that were read. */
  expect(entry: SealEntry): void
  add(finding: Finding): void
  /** The same, of the seal log itself. */
  report(seq: number | null, rule: FindingRule, message: string): void
  /** Whether a signed head is the tree of these entries, or of their first ones. */
  compare(head: AnchoredHead | undefined, name: string, rules: HeadRules): boolean
  /** Undefined for a size that is not watched, or was not reached. */
  rootAt(size: number): Uint8Array | undefined
  /** The root with one more entry. */
  rootWith(body: Uint8Array): Uint8Array
  readonly findings: readonly Finding[]
  readonly targets: ReadonlyMap<string, readonly SealTarget[]>
  readonly tree: CompactRange
  newest(): SealEntry | undefined
  /** The sizes of the chains under the first entry with a map of tasks, by origin. */
  readonly secondFrom: ReadonlyMap<string, number>
}

/** Roots kept of one chain. A longer list is thinned evenly: the newest always stays. */
const TARGETS_MAX = 8_192

export function createSealLog(origin: string): SealLog {
  const tree = createCompactRange()
  const findings: Finding[] = []
  const targets = new Map<string, SealTarget[]>()
  const watched = new Map<number, Uint8Array | undefined>()
  let previous: SealEntry | undefined
  const secondFrom = new Map<string, number>()
  const handovers: ReadHandover[] = []

  function report(seq: number | null, rule: FindingRule, message: string): void {
    findings.push({ origin, seq, rule, message })
  }

  function expect(entry: SealEntry): void {
    for (const { origin: chain, size, root } of entry.chains) {
      addTarget(targets, chain, { size, root: fromBase64(root) as Uint8Array })
    }
  }

  const rootAt = (size: number): Uint8Array | undefined =>
    size === tree.size ? tree.root() : watched.get(size)

  return {
    watch: (size) => void watched.set(size, undefined),
    report,
    keysFrom: (trusted) => keysOver(trusted, handovers, { origin, report }),
    next({ seq, body, note }) {
      if (seq !== tree.size) {
        report(tree.size, 'SEAL_LOG', 'an entry of the seal log is missing')
        while (tree.size < seq) tree.append(hashLeaf(new Uint8Array(0)))
      }
      const entry = readSealEntry(body)
      if (entry?.handover !== undefined && handovers.length <= HANDOVERS_MAX) {
        handovers.push({ seq, entry: body, path: pathOfNext(tree), note })
      }
      tree.append(hashLeaf(body))
      if (watched.has(tree.size)) watched.set(tree.size, tree.root())
      if (entry === undefined) return report(seq, 'SEAL_LOG', 'the entry cannot be read')
      const fault = previous === undefined ? undefined : sealFault(previous, entry)
      if (fault !== undefined) {
        report(seq, 'SEAL_LOG', `the entry cannot follow the one before it: ${fault}`)
      }
      if (entry.tasks !== undefined && previous?.tasks === undefined) {
        for (const { origin: chain, size } of entry.chains) secondFrom.set(chain, size)
      }
      previous = entry
      expect(entry)
    },
    expect,
    add: (finding) => void findings.push(finding),
    compare(head, name, rules) {
      const { size } = tree
      const before = findings.length
      if (head === undefined) report(null, rules.unsigned, `${name} is not signed by the sealer`)
      else if (head.size > size) {
        report(size, rules.more, `${name} knows ${head.size} seals, the database has ${size}`)
      } else if (head.root !== null && head.size > 0) {
        const root = rootAt(head.size)
        const isSame = root !== undefined && equalBytes(root, head.root)
        if (!isSame) report(head.size - 1, rules.other, `${name} knows another seal log up to here`)
      }
      return findings.length === before
    },
    rootAt,
    rootWith(entry) {
      const longer = compactRangeFromState(tree.state())
      longer.append(hashLeaf(entry))
      return longer.root()
    },
    findings,
    targets,
    tree,
    newest: () => previous,
    secondFrom,
  }
}

interface ReadHandover extends HandoverEvidence {
  readonly seq: number
}

/** Where one of them does not hold, the trusted key alone counts. */
function keysOver(
  trusted: Uint8Array,
  handovers: readonly ReadHandover[],
  { origin, report }: Pick<SealLog, 'report'> & { readonly origin: string },
): SealKeys {
  if (handovers.length === 0) return singleSealKey(trusted)
  const resolved = resolveSealKeys(origin, [trusted], handovers)
  if (resolved.ok) return resolved.keys
  const { fault, at } = resolved
  report(at === null ? null : (handovers[at]?.seq ?? null), 'SEAL_KEY', HANDOVER_FAULTS[fault])
  return singleSealKey(trusted)
}

/** The way of the leaf that comes next leads past every full subtree before it, the smallest first. */
const pathOfNext = (tree: CompactRange): Uint8Array[] =>
  tree
    .state()
    .hashes.map((hash) => fromBase64(hash) as Uint8Array)
    .toReversed()

function addTarget(targets: Map<string, SealTarget[]>, origin: string, target: SealTarget): void {
  const known = targets.get(origin) ?? []
  targets.set(origin, known)
  if (known.at(-1)?.size === target.size) return
  known.push(target)
  if (known.length <= TARGETS_MAX) return
  const thinned = known.filter((_, at) => at % 2 === 1 || at === known.length - 1)
  targets.set(origin, thinned)
}
