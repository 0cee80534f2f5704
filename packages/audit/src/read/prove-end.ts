// Whether records of a task are missing at its end, or as a whole: the map of tasks that seals commit to says how many there are.
import { equalBytes, findTaskEnd, readSealEntry, taskMapPath, toHex } from '@baton/ledger'
import type { Finding, TaskLookup } from '@baton/ledger'
import type { Snapshot } from '../database.ts'
import { readLastSeal } from '../seals/seals.ts'
import { readTaskMapNodes } from '../seals/task-map.ts'
import type { Proof, SignedTaskMap } from './assurance.ts'

/** That the task had exactly so many records: until then nobody appended another one. */
export interface ProvenEnd {
  readonly proof: SignedTaskMap['proof']
  readonly until: string
  readonly records: number
}

/** A record of the task as its bytes say, and where it stands. */
export interface PlacedRecord {
  readonly chain: number
  readonly seq: number
  readonly taskSeq: number
  /** Of the stored bytes. */
  readonly recordHash: Uint8Array
  /** Lower-case hex. */
  readonly previousTaskRecordHash: string
}

interface TaskRecordsFound {
  readonly taskId: string
  /** Those that are there, in order. */
  readonly records: readonly PlacedRecord[]
  /** How many of its first records have expired, and the hash of the last of them. */
  readonly expired: number
  readonly expiredHash: Uint8Array | undefined
}

interface ProvenEnds {
  /** The one that was seen outside first. Empty where no map says anything of the task. */
  readonly ends: readonly ProvenEnd[]
  /** The end vouches for every record before it that the links lead to. */
  proofOf(record: Pick<PlacedRecord, 'recordHash'>): Proof
  readonly findings: readonly Finding[]
}

/** Compares what was found of a task with each signed map. A version that is not kept any more says nothing. */
export async function proveEnd(
  snapshot: Snapshot,
  found: TaskRecordsFound,
  maps: readonly SignedTaskMap[],
): Promise<ProvenEnds> {
  const ends: ProvenEnd[] = []
  const findings: Finding[] = []
  const proofs = new Map<string, Proof>()
  for (const map of maps) {
    const { proof, until, root, seals } = map
    const nodes = await readTaskMapNodes(snapshot, seals, taskMapPath(found.taskId))
    const lookup = findTaskEnd(root, nodes, found.taskId)
    if (lookup.kind === 'unproven') {
      const isNewest = map === maps.at(-1)
      const isPruned = !nodes.has(lookup.node) && (await isSuperseded(snapshot, map))
      if (isNewest && !isPruned) findings.push(damagedNode(lookup.node))
      continue
    }
    if (lookup.kind === 'absent' && map.isCut) continue
    const message = faultOf(found, lookup, map)
    if (message !== undefined)
      findings.push({ origin: ORIGIN, seq: null, rule: 'TASK_END', message })
    else ends.push({ proof, until, records: lookup.kind === 'found' ? lookup.end.records : 0 })
    if (lookup.kind !== 'found') continue
    for (const hash of linkedTo(lookup.end.lastHash, found.records)) {
      if (!proofs.has(hash)) proofs.set(hash, proof)
    }
  }
  const proofOf: ProvenEnds['proofOf'] = ({ recordHash }) => proofs.get(toHex(recordHash)) ?? 'none'
  return { ends, proofOf, findings }
}

/** Nodes of a version are kept for a minute after a newer one: who asks for them later is told nothing, and no lie about damage. */
async function isSuperseded(snapshot: Snapshot, { seals }: SignedTaskMap): Promise<boolean> {
  const newest = await readLastSeal(snapshot)
  return newest !== undefined && (readSealEntry(newest.body)?.tasks?.seals ?? 0) > seals
}

/** The hashes of the record with this hash and of those before it, as far as they are there. */
function linkedTo(lastHash: Uint8Array, records: readonly PlacedRecord[]): string[] {
  const previous = new Map(
    records.map((one) => [toHex(one.recordHash), one.previousTaskRecordHash]),
  )
  const linked: string[] = []
  for (let hash = toHex(lastHash); previous.has(hash); hash = previous.get(hash) as string) {
    linked.push(hash)
  }
  return linked
}

const ORIGIN = 'the map of tasks'

/** The copy of the map is not what was signed, so it says nothing of the tasks below. */
export const damagedNode = (node: string): Finding => ({
  origin: ORIGIN,
  seq: null,
  rule: 'TASK_MAP',
  message: `the node ${JSON.stringify(node)} is not the one that was signed, so it cannot be said whether records are missing at the end`,
})

function faultOf(
  { records, expired, expiredHash }: TaskRecordsFound,
  lookup: Exclude<TaskLookup, { kind: 'unproven' }>,
  { sizes, until }: SignedTaskMap,
): string | undefined {
  const count = lookup.kind === 'found' ? lookup.end.records : 0
  const before = new Set(records.flatMap(({ taskSeq }) => (taskSeq < count ? [taskSeq] : [])))
  const unsigned = records.find(
    ({ chain, seq, taskSeq }) => taskSeq >= count && seq < (sizes.get(chain) ?? 0),
  )
  if (unsigned !== undefined)
    return `it has ${count} records until ${until}, and one more is stored among them`
  if (lookup.kind === 'absent') return undefined
  const last = records.find(({ taskSeq }) => taskSeq === count - 1)?.recordHash
  const isExpired = expired === count && expiredHash !== undefined
  const lastHash = last ?? (isExpired ? expiredHash : undefined)
  const missing = count - expired - before.size
  if (lastHash === undefined || missing > 0) {
    return `${missing} of the ${count} records that it had at ${until} ${missing === 1 ? 'is' : 'are'} missing`
  }
  return equalBytes(lastHash, lookup.end.lastHash)
    ? undefined
    : `its last record of ${until} is another one`
}
