// Keeps the map of tasks up beside the sealing: it follows the newest seal, and a later seal commits to it.
import { extendTaskMap, isTaskMapWhole, pruneTaskMap, readSeal, readWitnessed } from '@baton/audit'
import type { ColdStore, ExtendedTaskMap, Pool } from '@baton/audit'
import { fromBase64, readSealEntry, toBase64 } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { codeOf, crashPoint, every } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { SealerState, TaskMapState } from './state-file.ts'

interface KeeperOptions {
  /** Connected as audit_sealer. */
  readonly pool: Pool
  /** Where records stand that were dropped from the database. */
  readonly cold: ColdStore | undefined
  /** How often the map of tasks follows the seals. */
  readonly taskMapEveryMs: number
  readonly metrics: Pick<Metrics, 'auditTamperDetectedTotal' | 'auditTampered'>
  readonly logger: Logger
}

interface Sealing {
  /** What was signed last and is published; undefined while nothing may be signed. */
  readonly newest: () => SealerState | undefined
  /** Nothing may be signed any more. */
  readonly halt: (findings: readonly Finding[]) => void
}

/** Versions that readers may still look at: they read what was sealed and its map one after the other. */
const READERS_MS = 60_000
/** Versions that are kept while nobody outside sees a seal. */
const VERSIONS_MAX = 256
const FINDINGS_LOGGED_MAX = 10

export interface TaskMapKeeper {
  /** The newest map, which no seal commits to yet; undefined where there is none. */
  readonly coming: TaskMapState | undefined
  /** Brings the map to the newest seal. */
  follow(): Promise<void>
  /** Forgets what it held: another sealer may have brought the map further. */
  forget(): void
  start(): Promise<void>
  stop(): Promise<void>
}

export function createTaskMapKeeper(options: KeeperOptions, sealing: Sealing): TaskMapKeeper {
  const { pool, cold, metrics, logger } = options
  let coming: TaskMapState | undefined
  /** The stored nodes are not the ones that were committed to: they are made anew. */
  let isDamaged = false
  let isLookedThrough = false
  const versions = createVersions(pool)

  async function extend(state: SealerState): Promise<ExtendedTaskMap> {
    const known = isDamaged ? undefined : (coming ?? state.tasks)
    const root = known && fromBase64(known.sealed.root)
    const from = root && known.chains && { root, seals: known.sealed.seals, chains: known.chains }
    return extendTaskMap({ pool, cold, from, to: { seals: state.tree.size, chains: state.chains } })
  }

  /** Once: what was altered while no sealer ran is made anew when one starts. */
  async function lookThrough({ tasks }: SealerState): Promise<void> {
    if (isLookedThrough) return
    if (tasks !== undefined) {
      const { root, seals } = tasks.sealed
      const map = { root: fromBase64(root) as Uint8Array, seals }
      if (!(await isTaskMapWhole(pool, map))) sayDamaged()
    }
    isLookedThrough = true
  }

  function sayDamaged(): void {
    isDamaged = true
    metrics.auditTamperDetectedTotal.inc()
    metrics.auditTampered.set(1)
    logger.error({ event: 'seal.task_map_damaged' })
  }

  async function follow(): Promise<void> {
    const state = sealing.newest()
    if (state === undefined) return
    await lookThrough(state)
    const known = coming ?? state.tasks
    if (!isDamaged && known?.chains !== undefined && !isBehind(known.chains, state)) return
    const extended = await extend(state)
    if (extended.kind === 'altered') return sealing.halt(extended.findings)
    if (extended.kind === 'damaged') return sayDamaged()
    if (extended.kind === 'unread') {
      const findings = extended.findings.slice(0, FINDINGS_LOGGED_MAX)
      return logger.error({ event: 'seal.task_map_unread', findings })
    }
    crashPoint('sealer.after_task_map')
    if (known?.chains === undefined || isDamaged) {
      logger.info({ event: 'seal.task_map_built', tasks: extended.tasks })
    }
    const isAnew = known?.chains === undefined || isDamaged
    const begins = isAnew ? extended.begins : beginsOf(known)
    isDamaged = false
    coming = stateOf({ root: extended.root, begins }, state)
    await versions.add(state.tree.size)
  }

  const following = every({
    name: 'task-map',
    everyMs: options.taskMapEveryMs,
    run: follow,
    failed: (error) => logger.warn({ event: 'seal.task_map_failed', code: codeOf(error), error }),
  })
  return {
    get coming() {
      return coming
    },
    follow,
    forget() {
      coming = undefined
      isDamaged = false
      isLookedThrough = false
    },
    start: () => following.start(),
    stop: () => following.stop(),
  }
}

/** Versions of the map in the database: those that nobody has to read any more are pruned. */
function createVersions(pool: Pool) {
  const versions: { readonly seals: number; readonly at: number }[] = []
  let pruned = 0
  return {
    async add(seals: number): Promise<void> {
      const now = performance.now()
      versions.push({ seals, at: now })
      const unread = versions.findLast(({ at }) => now - at >= READERS_MS)?.seals ?? 0
      const bound = versions.at(-VERSIONS_MAX)?.seals ?? 0
      const to = Math.max(bound, Math.min(unread, await witnessedVersion(pool)))
      if (to <= pruned) return
      await pruneTaskMap(pool, { from: pruned, to })
      pruned = to
      while ((versions[0]?.seals ?? to) < to) versions.shift()
    },
  }
}

const isBehind = (held: SealerState['chains'], { chains }: SealerState): boolean =>
  chains.some(({ origin, size }) => held.find((one) => one.origin === origin)?.size !== size)

interface MadeMap {
  readonly root: Uint8Array
  readonly begins: ReadonlyMap<string, number>
}

function stateOf({ root, begins }: MadeMap, { seal, tree, chains }: SealerState): TaskMapState {
  const sorted = chains.toSorted((left, right) => (left.origin < right.origin ? -1 : 1))
  const sizes = sorted.map(({ size }) => size)
  const cut = sorted.map(({ origin }) => begins.get(origin) ?? 0)
  const sealed = { at: seal.at, root: toBase64(root), seals: tree.size, sizes }
  return { sealed: cut.some((begin) => begin > 0) ? { ...sealed, begins: cut } : sealed, chains }
}

/** What the map did not know when it was made, it never comes to know. */
function beginsOf({
  sealed: { begins = [] },
  chains = [],
}: TaskMapState): ReadonlyMap<string, number> {
  const origins = chains.map(({ origin }) => origin).toSorted()
  return new Map(begins.map((begin, at) => [origins[at] ?? '', begin]))
}

/** The version that the newest seal commits to that was seen outside. */
async function witnessedVersion(pool: Pool): Promise<number> {
  const witnessed = await readWitnessed(pool)
  const seal = witnessed && (await readSeal(pool, witnessed.size - 1))
  return (seal && readSealEntry(seal.body)?.tasks?.seals) ?? 0
}
