// What the log says of legal holds behind the newest signed map of tasks, read so that a record that was cut is missed: all that
// is sealed leads to one signed head, and what is not sealed yet is linked up to the end of its chain.
import { parseInstant, readRecord, recordHash } from '@baton/ledger'
import type { RecordBody } from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import { readHeads } from '../append/heads.ts'
import type { ChainHead } from '../append/heads.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import type { CoveredSizes, NewestSeal, SignedTaskMap } from '../read/assurance.ts'
import { proveLeaves } from '../read/prove-records.ts'
import { isSignedRecord } from '../read/signed-record.ts'
import { scanBodies } from '../seals/scan-bodies.ts'

interface BeyondMap {
  readonly reader: Pool
  /** Where records stand that are not in the database any more. */
  readonly cold: ColdStore | undefined
  /** Trusted public keys of append services, by key id; who has none believes the links alone. */
  readonly batchKeys?: ReadonlyMap<string, KeyObject>
  readonly covered: CoveredSizes
  /** A seal that is older says nothing of now: somebody may keep the sealer from its work. */
  readonly sealAgeMaxMs: number
}

/** `unproven`: why nothing can be said of what stands behind the map. */
export type HoldsBeyondMap =
  | {
      readonly kind: 'read'
      /** The map that says everything before; undefined where there is none and all was read. */
      readonly map: SignedTaskMap | undefined
      /** The hash of each task's newest record about a hold, in lower-case hex; of tasks that have one here. */
      readonly newest: ReadonlyMap<string, string>
    }
  | { readonly kind: 'unproven'; readonly why: string }

/** The map is seconds behind what is sealed. Where it is so many records behind, it is the sealer that has to be mended. */
const RECORDS_MAX = 100_000

const unproven = (why: string): HoldsBeyondMap => ({ kind: 'unproven', why })

/** Why the seals say nothing of now; undefined where they do. */
export function whySealsUnproven(
  { newestSeal, seenSeals }: CoveredSizes,
  sealAgeMaxMs: number,
): string | undefined {
  if (newestSeal === undefined) return 'no seal is there'
  if (newestSeal.size < seenSeals)
    return `${seenSeals} seals were seen outside, and ${newestSeal.size} are there`
  const ageMs = Math.max(0, Date.now() - (parseInstant(newestSeal.at) ?? 0) / 1_000)
  if (ageMs <= sealAgeMaxMs) return undefined
  const [age, most] = [ageMs, sealAgeMaxMs].map((ms) => (ms / 1_000).toFixed(1))
  return `the newest seal is ${age} s old, and at most ${most} s are believed`
}

export function readHoldsBeyondMap(reading: BeyondMap): Promise<HoldsBeyondMap> {
  const { newestSeal, taskMaps } = reading.covered
  const why = whySealsUnproven(reading.covered, reading.sealAgeMaxMs)
  if (why !== undefined || newestSeal === undefined) return Promise.resolve(unproven(why ?? ''))
  const map = taskMaps.toSorted((left, right) => left.seals - right.seals).at(-1)
  return inSnapshot(reading.reader, (snapshot) =>
    readAll(snapshot, { ...reading, newestSeal, map }),
  )
}

interface Behind extends BeyondMap {
  readonly newestSeal: NewestSeal
  readonly map: SignedTaskMap | undefined
}

async function readAll(snapshot: Snapshot, behind: Behind): Promise<HoldsBeyondMap> {
  const { cold, covered, map } = behind
  const tier = createColdTier(snapshot, cold)
  const told = createToldHolds()
  const heads = await readHeads(snapshot)
  const records = heads.reduce((sum, { chain, size }) => sum + size - beginOf(map, chain), 0)
  if (records > RECORDS_MAX) {
    return unproven(
      `the map of tasks is ${records} records behind, and at most ${RECORDS_MAX} are read`,
    )
  }
  for (const known of covered.heads) {
    const size = heads.find(({ chain }) => chain === known.chain)?.size ?? 0
    if (size < known.size) {
      return unproven(`chain ${known.origin} had ${known.size} records, and has ${size} now`)
    }
  }
  for (const head of heads) {
    if (await isChainWhole(snapshot, { head, behind, tier, told })) continue
    return unproven(
      `records of chain ${head.origin} that the map of tasks does not hold yet are missing or altered`,
    )
  }
  return { kind: 'read', map, newest: told.newest() }
}

const beginOf = (map: SignedTaskMap | undefined, chain: number): number =>
  map?.sizes.get(chain) ?? 0

interface ChainBehind {
  readonly head: ChainHead
  readonly behind: Behind
  readonly tier: ColdTier
  readonly told: ToldHolds
}

async function isChainWhole(snapshot: Snapshot, part: ChainBehind): Promise<boolean> {
  const { head, behind, tier } = part
  const { chain, origin, size } = head
  const { covered, newestSeal, batchKeys } = behind
  const sealed = newestSeal.heads.get(chain)?.size ?? 0
  const leaves = await readLinked(snapshot, part)
  if (leaves === undefined || sealed < beginOf(behind.map, chain) || size < sealed) return false
  const proven = await proveLeaves(
    snapshot,
    leaves.filter(({ seq }) => seq < sealed),
    {
      covered: { ...covered, witnessed: new Map(), sealed: newestSeal.heads },
      tier,
      hashOf: ({ hash }) => hash,
    },
  )
  if (leaves.some((leaf) => leaf.seq < sealed && proven.proofOf(leaf) === 'none')) return false
  if (size === sealed || batchKeys === undefined) return true
  // The newest batch is signed, and every record before it that is not sealed is linked to it.
  return isSignedRecord(snapshot, { chain, origin, seq: size - 1 }, { tier, batchKeys })
}

interface Leaf {
  readonly chain: number
  readonly seq: number
  readonly hash: Uint8Array
}

/** Every record behind the map, to the end of the chain; undefined where one is missing or does not follow the one before it. */
async function readLinked(
  snapshot: Snapshot,
  { head: { chain, origin, size }, behind, tier, told }: ChainBehind,
): Promise<readonly Leaf[] | undefined> {
  const leaves: Leaf[] = []
  const from = beginOf(behind.map, chain)
  let previous: string | undefined
  for await (const bodies of scanBodies(snapshot, tier, { chain, from, to: size })) {
    for (const body of bodies) {
      const record = readRecord(body)
      const follows = previous === undefined || record?.previousRecordHash === previous
      const isNext = record?.origin === origin && record.seq === from + leaves.length
      if (record === undefined || !isNext || !follows) return undefined
      const hash = recordHash(body)
      previous = hash.toString('hex')
      leaves.push({ chain, seq: record.seq, hash })
      told.add(record, previous)
    }
  }
  const isWhole = from + leaves.length === size && tier.takeFindings().length === 0
  return isWhole ? leaves : undefined
}

type ToldHolds = ReturnType<typeof createToldHolds>

function createToldHolds() {
  const newest = new Map<string, { readonly taskSeq: number; readonly hash: string }>()
  return {
    add({ event, taskId, taskSeq }: RecordBody, hash: string): void {
      const isTold = event === 'LEGAL_HOLD_SET' || event === 'LEGAL_HOLD_LIFTED'
      if (isTold && taskSeq > (newest.get(taskId)?.taskSeq ?? -1))
        newest.set(taskId, { taskSeq, hash })
    },
    newest: () => new Map([...newest].map(([taskId, { hash }]) => [taskId, hash])),
  }
}
