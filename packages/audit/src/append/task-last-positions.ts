// Remembers the last record of recently active tasks, so that most appends need no read.
import { GENESIS_HASH } from '@baton/ledger'
import type { ChainHead } from './heads.ts'

export interface TaskPosition {
  /** The number the task's next record gets. */
  readonly nextSeq: number
  readonly lastHash: Buffer
}

export interface TaskLastPositions {
  /** Undefined when it is not known whether the task has records. */
  get(chain: ChainHead['chain'], taskId: string): TaskPosition | undefined
  /** `position` undefined says that the task has no record yet. */
  set(chain: ChainHead['chain'], taskId: string, position?: TaskPosition): void
  /** Another writer has moved the chain: nothing remembered about its tasks may be used. */
  forget(chain: ChainHead['chain']): void
}

const NEW_TASK: TaskPosition = { nextSeq: 0, lastHash: GENESIS_HASH }
const REMEMBERED_PER_CHAIN_MAX = 50_000

/** Bounded: the tasks that were active longest ago are forgotten first. */
export function createTaskLastPositions(): TaskLastPositions {
  const byChain = new Map<number, Map<string, TaskPosition>>()
  return {
    get: (chain, taskId) => byChain.get(chain)?.get(taskId),
    set(chain, taskId, position = NEW_TASK) {
      const tasks = byChain.get(chain) ?? new Map<string, TaskPosition>()
      byChain.set(chain, tasks)
      tasks.delete(taskId)
      tasks.set(taskId, position)
      if (tasks.size <= REMEMBERED_PER_CHAIN_MAX) return
      const [oldest] = tasks.keys()
      if (oldest !== undefined) tasks.delete(oldest)
    },
    forget: (chain) => void byChain.delete(chain),
  }
}
