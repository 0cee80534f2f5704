// Types of lock.mjs, which stays plain JavaScript because boot.mjs runs it on any Node from 18.

/** A process as lock files and instance records name it; `startedAt` is null where it cannot be known. */
export interface Holder {
  readonly pid: number
  readonly startedAt: string | null
}

export function holderOf(pid?: number): Holder
export function isAlive(holder: Holder): boolean
export function withLock<Result>(
  path: string,
  options: { readonly waitMs: number; readonly onWait?: (holder: Holder | null) => void },
  action: () => Promise<Result>,
): Promise<Result>
