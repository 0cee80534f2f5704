// Remembers the last record of recently active tasks, so that most appends need no read.
import { GENESIS_HASH } from '@baton/ledger'
import type { ChainHead } from '../append/heads.ts'

export interface TaskPosition {
  /** The number the task's next record gets. */
  readonly nextSeq: number
  readonly lastHash: Buffer
}

const NEW_TASK: TaskPosition = { nextSeq: 0, lastHash: GENESIS_HASH }
const REMEMBERED_PER_CHAIN_MAX = 50_000

export class TaskLasts {
  readonly #byChain = new Map<number, Map<string, TaskPosition>>()

  /** Undefined when it is not known whether the task has records. */
  get(chain: ChainHead['chain'], taskId: string): TaskPosition | undefined {
    return this.#byChain.get(chain)?.get(taskId)
  }

  /** `position` undefined says that the task has no record yet. */
  set(chain: ChainHead['chain'], taskId: string, position: TaskPosition = NEW_TASK): void {
    const tasks = this.#byChain.get(chain) ?? new Map<string, TaskPosition>()
    this.#byChain.set(chain, tasks)
    tasks.delete(taskId)
    tasks.set(taskId, position)
    if (tasks.size <= REMEMBERED_PER_CHAIN_MAX) return
    const [oldest] = tasks.keys()
    if (oldest !== undefined) tasks.delete(oldest)
  }

  /** Another writer has moved the chain: nothing remembered about its tasks may be used. */
  forget(chain: ChainHead['chain']): void {
    this.#byChain.delete(chain)
  }
}
