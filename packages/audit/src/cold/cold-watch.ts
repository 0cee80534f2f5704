// Re-reads the whole cold store, bundle by bundle and for ever, from the first day on: what is missing or changed must be known while it can be mended.
import type { KeyObject } from 'node:crypto'
import { sealLogOrigin } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { readHeads } from '../append/heads.ts'
import { inSnapshot } from '../database.ts'
import type { Pool } from '../database.ts'
import { positionOf, readArchivePositions, SEAL_LOG } from './archive-positions.ts'
import type { ArchivePosition } from './archive-positions.ts'
import { checkBundle, checkTail } from './check-archived.ts'
import type { ArchivedCopy } from './check-archived.ts'
import {
  clearColdFault,
  readColdFaults,
  readColdWatch,
  storeColdFault,
  storeColdWatch,
} from './cold-faults.ts'
import type { ColdFault, ColdPass, ColdWatchPosition } from './cold-faults.ts'
import { sealLogKeys } from '../seals/read-seal-keys.ts'
import { checkHead } from './cold-head.ts'
import { createColdLog } from './cold-log.ts'
import type { ColdStore } from './cold-store.ts'
import { bundleOf } from './objects.ts'

/** The root over the full bundles of a log, which extends to what the sealer signed. */
export interface ProvenRoot {
  readonly size: number
  readonly root: Uint8Array
}

interface ColdWatchOptions {
  /** Connected as audit_archiver. */
  readonly pool: Pool
  readonly store: ColdStore
  /** The sealer's. */
  readonly sealKey: KeyObject
  /** By number of the log; undefined while nobody has proven one, and then nothing is compared with it. */
  readonly rootOf: (log: number) => ProvenRoot | undefined
  readonly now: () => Date
}

export interface WatchedPiece {
  readonly bundles: number
  /** What was not known before. */
  readonly findings: readonly Finding[]
  /** What was missing or changed and is whole again. */
  readonly mended: readonly ColdFault[]
  /** Bundles of which an object is missing or changed, as far as is known. */
  readonly faults: number
  /** Bundles of the whole store. */
  readonly total: number
  /** The pass that ended with this piece. */
  readonly pass: ColdPass | undefined
}

export interface ColdWatch {
  /** Reads what was found before once more; answers what is still so. */
  recheck(): Promise<readonly Finding[]>
  /** Reads the next bundles, `count` at most, and remembers where it is. */
  next(count: number): Promise<WatchedPiece>
}

interface Log {
  readonly log: number
  readonly origin: string
  readonly position: ArchivePosition
}

export function createColdWatch(options: ColdWatchOptions): ColdWatch {
  const { pool, rootOf, now } = options
  const known = createKnownFaults(pool)
  let position: ColdWatchPosition | undefined
  let isLoaded = false
  /** The log that is being read, as it was when the pass came to it. */
  let open: ArchivedCopy | undefined

  async function load(): Promise<void> {
    if (isLoaded) return
    await known.load()
    position = await readColdWatch(pool)
    isLoaded = true
  }

  function copyOf({ log, origin, position: at }: Log): ArchivedCopy {
    const proven = rootOf(log)
    const [size, root] = [proven?.size ?? at.size, proven?.root]
    const cold = createColdLog(options.store, origin)
    return { db: pool, log, cold, size, root, minIndex: at.minIndex }
  }

  return {
    async recheck() {
      await load()
      const logs = new Map((await readLogs(pool)).map((log) => [log.log, log]))
      const findings: Finding[] = []
      for (const { log, bundle } of known.all()) {
        const own = logs.get(log)
        if (own === undefined) continue
        const finding = await check(options, copyOf(own), bundle)
        await known.settle({ log, bundle }, finding)
        if (finding !== undefined) findings.push(finding)
        if (findings.length >= RECHECKED_MAX) break
      }
      return findings
    },
    async next(count) {
      await load()
      const logs = await readLogs(pool)
      let at = position ?? startPass(now(), null)
      const [findings, mended]: [Finding[], ColdFault[]] = [[], []]
      let pass: ColdPass | undefined
      let bundles = 0
      while (bundles < count && pass === undefined) {
        const log = logs.find((one) => one.log >= at.log)
        if (log === undefined) {
          pass = passOf(at, now())
          at = startPass(now(), pass)
          open = undefined
          continue
        }
        if (log.log !== at.log) at = { ...at, log: log.log, bundle: 0 }
        if (open?.log !== log.log) open = copyOf(log)
        const finding = await check(options, open, at.bundle)
        const settled = await known.settle(at, finding)
        if (finding !== undefined && settled === 'new') findings.push(finding)
        if (typeof settled === 'object') mended.push(settled)
        bundles += 1
        at = behind(at, {
          size: open.size,
          tail: log.position.tail,
          isFault: finding !== undefined,
        })
      }
      position = at
      await storeColdWatch(pool, at)
      const total = logs.reduce((sum, one) => sum + bundleOf(one.position.size) + 1, 0)
      return { bundles, findings, mended, faults: known.all().length, total, pass }
    },
  }
}

/** What is wrong in one place; nothing where it has expired meanwhile. */
async function check(
  options: ColdWatchOptions,
  copy: ArchivedCopy,
  bundle: number,
): Promise<Finding | undefined> {
  const { pool } = options
  const look = async () => {
    const { minIndex, size, tail } = positionOf(await readArchivePositions(pool), copy.log)
    if (bundle < bundleOf(copy.size)) return checkBundle({ ...copy, minIndex }, bundle)
    // More may have been archived since the pass came to this log: then the next one reads it.
    if (size !== copy.size) return []
    const ofTail = await inSnapshot(pool, (db) => checkTail({ ...copy, db }, tail))
    if (ofTail.length > 0) return ofTail
    const { origin } = copy.cold
    const signers = sealLogKeys(pool, options.sealKey)
    // As it is now: what this log remembers may be older than the head.
    return checkHead(
      { store: options.store, origin, signers },
      createColdLog(options.store, origin),
      Math.max(size, tail),
    )
  }
  const findings = await look()
  return findings.length === 0 ? undefined : (await look())[0]
}

interface Reading {
  readonly size: number
  readonly tail: number
  readonly isFault: boolean
}

/** The place behind a bundle; what fills none is the last of its log. */
function behind(at: ColdWatchPosition, { size, tail, isFault }: Reading): ColdWatchPosition {
  const isLast = at.bundle >= bundleOf(size)
  const isEmpty = isLast && tail <= size
  return {
    ...at,
    ...(isLast ? { log: at.log + 1, bundle: 0 } : { bundle: at.bundle + 1 }),
    passBundles: at.passBundles + (isEmpty ? 0 : 1),
    passFaults: at.passFaults + (isFault ? 1 : 0),
  }
}

type Place = Pick<ColdFault, 'log' | 'bundle'>

/** What is missing or changed as far as is known, in memory and in the database. */
interface KnownFaults {
  load(): Promise<void>
  all(): readonly ColdFault[]
  /** Takes what was found in a place; answers whether that is new, or what is whole again. */
  settle(place: Place, finding: Finding | undefined): Promise<'new' | 'known' | ColdFault>
}

function createKnownFaults(pool: Pool): KnownFaults {
  const known = new Map<string, ColdFault>()
  return {
    async load() {
      for await (const faults of readColdFaults(pool))
        for (const fault of faults) known.set(placeOf(fault), fault)
    },
    all: () => [...known.values()],
    async settle({ log, bundle }, finding) {
      const key = placeOf({ log, bundle })
      const before = known.get(key)
      if (finding !== undefined) {
        const { rule, message, seq } = finding
        if (before?.message !== message) await storeColdFault(pool, { log, bundle }, finding)
        known.set(key, { log, bundle, rule, message, seq: seq ?? 0 })
        return before === undefined ? 'new' : 'known'
      }
      if (before === undefined) return 'known'
      await clearColdFault(pool, { log, bundle })
      known.delete(key)
      return before
    },
  }
}

/** One that is still wrong stops an archiver: a start need not read all of them. */
const RECHECKED_MAX = 10

const placeOf = ({ log, bundle }: Place): string => `${log}/${bundle}`

/** Every log of the store, the seal log first. */
async function readLogs(pool: Pool): Promise<readonly Log[]> {
  const heads = await readHeads(pool)
  const positions = await readArchivePositions(pool)
  const seals = { log: SEAL_LOG, origin: sealLogOrigin(heads[0]?.origin ?? '') }
  return [seals, ...heads.map(({ chain, origin }) => ({ log: chain, origin }))]
    .map((one) => ({ ...one, position: positionOf(positions, one.log) }))
    .toSorted((left, right) => left.log - right.log)
}

const startPass = (now: Date, lastPass: ColdPass | null): ColdWatchPosition => ({
  log: SEAL_LOG,
  bundle: 0,
  passStartedAt: now.toISOString(),
  passBundles: 0,
  passFaults: 0,
  lastPass,
})

const passOf = (at: ColdWatchPosition, now: Date): ColdPass => ({
  startedAt: at.passStartedAt,
  endedAt: now.toISOString(),
  bundles: at.passBundles,
  faults: at.passFaults,
})
