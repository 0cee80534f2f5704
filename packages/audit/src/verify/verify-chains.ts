// Verifies every chain from its stored bytes, in one snapshot and in bounded pages.
import type { KeyObject } from 'node:crypto'
import { createChainVerifier, NOBODY, readKeyRotation, sealLogOrigin } from '@baton/ledger'
import type { Finding, FindingRule, People } from '@baton/ledger'
import { BatonError } from '@baton/runtime'
import { positionOf, readArchivePositions, SEAL_LOG } from '../cold/archive-positions.ts'
import { beginningOf } from '../cold/chain-beginning.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import { createAuthenticatedErasures } from '../erasure/authenticated-erasures.ts'
import type { AuthenticatedErasures } from '../erasure/authenticated-erasures.ts'
import { readHeads } from '../append/heads.ts'
import { readDatabaseClock } from '../append/log-clock.ts'
import type { ChainHead } from '../append/heads.ts'
import { misplacedSegments, openableSegments, withSegments } from '../read/segments.ts'
import type { SubjectVault } from '../append/subject-vault.ts'
import { checkDecisions } from './check-decisions.ts'
import { checkErasures } from './check-erasures.ts'
import { checkHolds } from './check-holds.ts'
import { checkIndex } from './check-index.ts'
import { checkTiers } from './check-tiers.ts'
import { compareDefinitions } from './definitions.ts'
import type { DefinitionReport } from './definitions.ts'
import type { SchemaName } from './describe-schema.ts'
import { scanTiers } from './scan-chain.ts'
import type { ScannedRecord } from './scan-chain.ts'
import { sealLogKeys } from '../seals/read-seal-keys.ts'
import { createSealedRoots } from './sealed-roots.ts'
import type { SealTarget } from './sealed-roots.ts'
import { askOutside } from './ask-outside.ts'
import type { Outside, SealTrust } from './ask-outside.ts'
import type { StateCheck } from './state-check.ts'
import { openTaskEnds } from './task-ends.ts'
import type { TaskEnds } from './task-ends.ts'
import { verifyCopies } from './verify-copies.ts'
import { collectFindings } from './verify-report.ts'
import type { Findings, VerifyReport } from './verify-report.ts'
import { verifySeals } from './verify-seals.ts'
import type { VerifiedSeals } from './verify-seals.ts'

interface VerifyOptions {
  /** Connected as audit_reader. */
  readonly pool: Pool
  /** Trusted public keys of append services, by key id; never taken from the database. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Whose decisions count, from settings; never taken from the database. Without anybody no decision is judged. */
  readonly people?: People | undefined
  /** Opens payload segments. Without it segments are not verified. */
  readonly vault?: Pick<SubjectVault, 'keysOf' | 'requestKeys' | 'compareDefinitions'>
  /** Where records stand that are not in the database any more. */
  readonly cold?: ColdStore | undefined
  /** Who seals, and where. Without it nothing is compared with seals. */
  readonly seals?: SealTrust | undefined
  /** Looks at the batch signatures under a seal too, which the sealer verified before it signed, and at the notes of seals before the newest. */
  readonly full?: boolean
  /** Called after every page with the number of records verified so far. */
  readonly onProgress?: (records: number) => void
}

/** Verifies all chains of all epochs (E13, I10) and locates every difference. */
export async function verifyChains(options: VerifyOptions): Promise<VerifyReport> {
  const found = collectFindings(options)
  const definitions = await compareDefinitions(options.pool)
  found.add(definitionFindings('audit', definitions))
  if (options.vault !== undefined)
    found.add(definitionFindings('vault', await options.vault.compareDefinitions()))
  try {
    const outside = options.seals && (await askOutside(options.pool, options.seals))
    return await inSnapshot(options.pool, (db) => verifyIn(db, options, { found, outside }))
  } catch (error) {
    // What was altered says why the rest cannot be read; a database that went away says nothing.
    if (definitions.altered.length === 0 || !isRefusal(error)) throw error
    found.add([definition('audit', `the log cannot be read any further: ${error.message}`)])
    return found.report({})
  }
}

const isRefusal = (error: unknown): error is BatonError =>
  error instanceof BatonError &&
  (error.kind === 'permanent' || error.code === 'BATON_SCHEMA_OUTDATED')

async function verifyIn(
  db: Snapshot,
  options: VerifyOptions,
  { found, outside }: { readonly found: Findings; readonly outside: Outside | undefined },
): Promise<VerifyReport> {
  const definitions = found.total
  const heads = await readHeads(db)
  const erasures = createAuthenticatedErasures(options.pool, options.batchKeys, options.cold)
  found.add(missingChains(heads))
  const trust = options.seals && { ...options.seals, full: options.full ?? false }
  const seals = trust && outside && (await verifySeals(db, heads, trust, outside))
  found.add(seals?.findings ?? [])
  found.add(unknownChains(heads, seals))
  const ends = await openTaskEnds(db, {
    tasks: seals?.tasks,
    sizes: seals?.taskSizes ?? new Map(),
  })
  found.add(ends.findings)
  await compareSealCopies(db, seals, { ...options, heads, found })
  const decisions = checkDecisions(options.people ?? NOBODY)
  const state = [...(await openStateChecks(db, options, seals)), decisions]
  const latestMicros = await latestTime(db)
  for (const head of heads) {
    const targets = seals?.targets.get(head.origin) ?? []
    await verifyChain(db, head, {
      ...options,
      found,
      targets,
      erasures,
      state,
      ends,
      latestMicros,
    })
  }
  for (const check of state) found.add(await check.finish())
  if (found.total === definitions) found.add(await ends.finish())
  return found.report({ seals, decisions: decisions.report() })
}

/** Beyond what the appender allows, and what clocks that were right then may differ by now. */
const LATER_THAN_NOW_MICROS = 5_000_000

/** What no record may be later than: the later one of two clocks, as one of them may be behind. */
const latestTime = async (db: Snapshot): Promise<number> =>
  Math.max(Date.now() * 1_000, await readDatabaseClock(db)) + LATER_THAN_NOW_MICROS

/** What is compared with the records while they are read. */
async function openStateChecks(
  db: Snapshot,
  { vault, cold, batchKeys }: VerifyOptions,
  seals: VerifiedSeals | undefined,
): Promise<readonly StateCheck[]> {
  const sealed = seals && ((origin: string) => seals.targets.get(origin)?.at(-1)?.size ?? 0)
  return [
    checkIndex(
      db,
      await vault?.requestKeys(),
      (origin) => seals?.secondFrom.get(origin) ?? Infinity,
    ),
    checkHolds(db),
    checkErasures(db, batchKeys),
    checkTiers({ tier: createColdTier(db, cold), sealed }, await readArchivePositions(db)),
  ]
}

const definition = (
  schema: SchemaName,
  message: string,
  rule: FindingRule = 'DEFINITION',
): Finding => ({ origin: `schema ${schema}`, seq: null, rule, message })

const definitionFindings = (
  schema: SchemaName,
  { altered, notCompared }: DefinitionReport,
): readonly Finding[] => [
  ...altered.map((message) => definition(schema, message)),
  ...(notCompared === null ? [] : [definition(schema, notCompared, 'DEFINITION_VERSION')]),
]

// Each chain says how many its epoch has, so a chain that is gone is missed by the others.
function missingChains(heads: readonly ChainHead[]): Finding[] {
  const epochs = Map.groupBy(heads, (head) => head.epoch)
  if (epochs.size === 0) {
    return [{ origin: '', seq: null, rule: 'CHAIN_MISSING', message: 'the log has no chain' }]
  }
  return [...epochs].flatMap(([epoch, chains]) => {
    const shards = Math.max(...chains.flatMap((chain) => [chain.shards, chain.shard + 1]))
    const present = new Set(chains.map((chain) => chain.shard))
    const missing = Array.from({ length: shards }, (_, shard) => shard).filter(
      (shard) => !present.has(shard),
    )
    const origin = chains[0]?.origin.replace(/\/s\d+$/, '') ?? ''
    const message = `a chain of epoch ${epoch} is not in the database`
    const gone = missing.map((shard) => {
      return { origin: `${origin}/s${shard}`, seq: null, rule: 'CHAIN_MISSING', message } as const
    })
    const unlike = chains.filter((chain) => chain.shards !== shards)
    const told = unlike.map((chain) => {
      const text = `its head counts ${chain.shards} chains of epoch ${epoch}, and there are ${shards}`
      return { origin: chain.origin, seq: null, rule: 'CHAIN_COUNT', message: text } as const
    })
    return [...gone, ...told]
  })
}

// A chain that was sealed under a name which no head has: it was removed with its head, or renamed.
function unknownChains(heads: readonly ChainHead[], seals: VerifiedSeals | undefined): Finding[] {
  const present = new Set(heads.map((head) => head.origin))
  const gone = [...(seals?.targets ?? [])].filter(([origin]) => !present.has(origin))
  return gone.map(([origin, targets]) => {
    const message = `a chain with ${targets.at(-1)?.size} sealed records is not in the database`
    return { origin, seq: null, rule: 'CHAIN_MISSING', message } as const
  })
}

/** What it takes to compare copies: the store, and whose heads in it count. */
interface Compared extends Pick<VerifyOptions, 'cold' | 'pool' | 'seals'> {
  readonly found: Findings
}

interface ChainOptions extends VerifyOptions, Compared {
  readonly targets: readonly SealTarget[]
  readonly erasures: AuthenticatedErasures
  readonly state: readonly StateCheck[]
  readonly ends: TaskEnds
  readonly latestMicros: number
}

async function verifyChain(
  snapshot: Snapshot,
  head: ChainHead,
  options: ChainOptions,
): Promise<void> {
  const { found, batchKeys, vault, erasures, state, ends, latestMicros, full = false } = options
  const { chain, origin } = head
  const tier = createColdTier(snapshot, options.cold)
  const { start, signedFrom, tree, findings } = await beginningOf(snapshot, tier, head)
  found.add(findings)
  const position = await tier.position(chain)
  const sealed = createSealedRoots(
    origin,
    tree === undefined
      ? { targets: [] }
      : { targets: options.targets, tree, archived: position.size },
  )
  const signatures = { signedFrom, signaturesFrom: full ? 0 : sealed.size, sealedTo: sealed.size }
  const verifier = createChainVerifier({
    origin,
    batchKeys,
    latestMicros,
    ...signatures,
    ...(start && { start }),
  })
  let records = 0
  for await (const page of scanTiers(snapshot, tier, { chain, fromSeq: 0 })) {
    const segments = await openableSegments(snapshot, {
      chain,
      page,
      vault,
      erasures,
      tier,
    })
    for (const scanned of page) {
      found.add(verifier.next(withSegments(scanned, segments)))
      found.add(misplacedSegments(scanned, segments))
      noteRotation(scanned, found)
      for (const check of state) found.add(check.next(head, scanned))
      found.add(sealed.append(verifier.lastHash))
      ends.next(head, scanned)
    }
    records += page.length
    found.page(page.length)
  }
  found.add(tier.takeFindings())
  found.add(verifier.finish(head))
  found.add(sealed.finish())
  const root = tree === undefined ? undefined : sealed.archivedRoot()
  await compareCopies(snapshot, { log: chain, origin, root }, options)
  found.chain({
    origin: head.origin,
    records,
    sealed: Math.min(records, sealed.size - (start?.size ?? 0)),
  })
}

function noteRotation({ reading }: ScannedRecord, found: Findings): void {
  const rotation = reading && readKeyRotation(reading)
  if (rotation !== undefined) found.rotation(rotation)
}

interface SealCopies extends Compared {
  readonly heads: readonly ChainHead[]
}

async function compareSealCopies(
  snapshot: Snapshot,
  seals: VerifiedSeals | undefined,
  { heads, ...options }: SealCopies,
): Promise<void> {
  if (seals === undefined) return
  const origin = sealLogOrigin(heads[0]?.origin ?? '')
  const { archivedRoot: root } = seals
  await compareCopies(snapshot, { log: SEAL_LOG, origin, root }, options)
}

interface ComparedLog {
  readonly log: number
  readonly origin: string
  readonly root: Uint8Array | undefined
}

async function compareCopies(
  snapshot: Snapshot,
  { log, origin, root }: ComparedLog,
  options: Compared,
): Promise<void> {
  const { cold: store, pool, seals, found } = options
  if (store === undefined) return
  const position = positionOf(await readArchivePositions(snapshot), log)
  const { bundles, findings } = await verifyCopies(snapshot, {
    store,
    origin,
    position,
    root,
    // The heads there may be newer than the snapshot.
    signers: seals && sealLogKeys(pool, seals.publicKey),
  })
  found.add(findings)
  found.copies(bundles)
}
