// Which worker gets a task: by what it needs, and by what the workers announced (S03 to S07, S18).
import type { SessionAnnounce } from './announce.ts'
import type { TaskDispatch } from './dispatch.ts'
import { resultOf } from './result.ts'
import type { TaskResult } from './result.ts'

/** What a task needs of whoever works on it. */
export interface Wanted {
  readonly mcp: readonly string[]
  readonly capabilities: readonly string[]
  /** The least tier that will do; any where it is undefined. */
  readonly modelTier?: string | undefined
  /** It changes files of the worker's repository. */
  readonly writes: boolean
}

/** A worker, and what is known of it. */
export interface KnownWorker {
  readonly peer: string
  /** Undefined where it has announced nothing: then it speaks prose, and what it has is not known. */
  readonly announce: SessionAnnounce | undefined
  /** What the operator says that it has, for workers that announce nothing. */
  readonly mcp: readonly string[]
  readonly capabilities: readonly string[]
  /** Tasks that it was given from here and has not answered. */
  readonly given: number
  readonly tasksMax: number
}

export interface Unmet {
  readonly kind: 'mcp' | 'capability' | 'model_tier' | 'repo_state'
  readonly name: string
}

export type Route =
  | { readonly kind: 'to'; readonly peer: string }
  /** Some could do it, and all of them have as much to do as they may. */
  | { readonly kind: 'busy' }
  /** Nobody can; what those lack who lack least. */
  | { readonly kind: 'unmet'; readonly unmet: readonly Unmet[] }

/** From the weakest to the strongest; other tiers are compared by their names alone. */
const TIERS = ['haiku', 'sonnet', 'opus']

/** The least worker that will do, and of those the one with the least to do (S03, S05). */
export function chooseWorker(wanted: Wanted, workers: readonly KnownWorker[]): Route {
  const able = workers.filter((worker) => unmetBy(worker, wanted).length === 0)
  if (able.length === 0) return { kind: 'unmet', unmet: leastUnmet(wanted, workers) }
  const free = able.filter((worker) => loadOf(worker) < worker.tasksMax)
  const [first] = free.toSorted(
    (a, b) =>
      tierOf(a) - tierOf(b) ||
      loadOf(a) - loadOf(b) ||
      (a.peer < b.peer ? -1 : Number(a.peer > b.peer)),
  )
  return first === undefined ? { kind: 'busy' } : { kind: 'to', peer: first.peer }
}

function leastUnmet(wanted: Wanted, workers: readonly KnownWorker[]): readonly Unmet[] {
  const all = workers.map((worker) => unmetBy(worker, wanted))
  return all.toSorted((a, b) => a.length - b.length)[0] ?? []
}

// What others give it is in what it announced; what was given from here since may not be.
const loadOf = ({ announce, given }: KnownWorker): number =>
  Math.max(given, announce?.session.active_tasks ?? 0)

const tierOf = ({ announce }: KnownWorker): number =>
  TIERS.indexOf(announce?.worker.model_tier ?? '')

/** What a worker lacks: a server that does not answer is one that it does not have (S04). */
export function unmetBy(
  worker: Pick<KnownWorker, 'announce' | 'mcp' | 'capabilities'>,
  wanted: Wanted,
): readonly Unmet[] {
  const mcp = reachableMcp(worker)
  const tools = worker.announce?.capabilities.tools ?? worker.capabilities
  return [
    ...wanted.mcp.filter((name) => !mcp.includes(name)).map((name) => unmet('mcp', name)),
    ...wanted.capabilities
      .filter((name) => !tools.includes(name))
      .map((name) => unmet('capability', name)),
    ...unmetTier(worker.announce, wanted.modelTier),
    ...(wanted.writes && worker.announce?.session.repo_state?.clean === false
      ? [unmet('repo_state', 'clean')]
      : []),
  ]
}

const unmet = (kind: Unmet['kind'], name: string): Unmet => ({ kind, name })

/** The MCP servers of a worker that answer. */
export function reachableMcp({
  announce,
  mcp,
}: Pick<KnownWorker, 'announce' | 'mcp'>): readonly string[] {
  if (announce === undefined) return mcp
  const { mcp_health: health, capabilities } = announce
  return capabilities.mcp_servers.filter(
    (name) => !Object.hasOwn(health, name) || health[name] === 'ok',
  )
}

function unmetTier(
  announce: SessionAnnounce | undefined,
  wanted: string | undefined,
): readonly Unmet[] {
  if (wanted === undefined) return []
  const tier = announce?.worker.model_tier ?? ''
  const isEnough =
    tier === wanted || (TIERS.includes(wanted) && TIERS.indexOf(tier) > TIERS.indexOf(wanted))
  return isEnough ? [] : [unmet('model_tier', wanted)]
}

/** What is answered at once where the worker cannot even begin: nothing was spent (phase 4, S18). */
export const blockedResult = (taskId: string, missing: readonly Unmet[]): TaskResult =>
  resultOf(taskId, 'blocked', { blocked_reason: unmetText(missing) })

export const unmetText = (missing: readonly Unmet[]): string =>
  `unmet requirements: ${missing.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`

/** What a worker itself checks of a dispatch before it begins. */
export const wantedBy = ({ requirements }: Pick<TaskDispatch, 'requirements'>): Wanted => ({
  mcp: requirements.required_mcp,
  capabilities: requirements.required_capabilities,
  writes: false,
})
