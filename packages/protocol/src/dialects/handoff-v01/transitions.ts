// The five statuses of protocol v0.1 and the five ways between them; every other pair is refused.

export const STATUSES = ['offered', 'accepted', 'completed', 'failed', 'rejected'] as const
export type Status = (typeof STATUSES)[number]

const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  offered: ['accepted', 'rejected'],
  accepted: ['completed', 'failed'],
  completed: [],
  failed: ['offered'],
  rejected: [],
}

export const isStatus = (value: unknown): value is Status =>
  STATUSES.some((status) => status === value)

/** Whether a handoff may go from one status to the other. */
export const mayBecome = (from: Status, to: Status): boolean => NEXT[from].includes(to)

/** The statuses that may follow; none where a handoff has ended. */
export const nextStatuses = (from: Status): readonly Status[] => NEXT[from]
