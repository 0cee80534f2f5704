// Whether so many different people voted for what was released or redacted as it takes: a release is nobody's own act, and stands on
// the votes before it.
import type { AuditEvent } from './audit-event.ts'
import { detached } from './bytes.ts'
import type { RecordBody } from './record.ts'

interface UnvotedRelease {
  readonly origin: string
  readonly seq: number
  readonly message: string
}

export interface ReleaseVotes {
  next(record: RecordBody): void
  /** What was let through by fewer people than it takes. */
  finish(): readonly UnvotedRelease[]
}

/** What only an interruption stopped: nothing is overridden when it goes on, so one person is enough. */
const INTERRUPTED: readonly (string | null)[] = ['POISON', 'UNRECORDABLE']

/** How many different people it takes to let a handoff past the check that stopped it, or to take texts out of it. */
const votersNeeded = (reason: string | null): number => (INTERRUPTED.includes(reason) ? 1 : 2)

interface Release {
  readonly origin: string
  readonly seq: number
  /** The votes for it have its handoff and its epoch. */
  readonly ballot: string
  readonly handoffId: string
  readonly needed: number
  /** Its chain begins here, so that every vote must be here too. */
  readonly isWhole: boolean
}

/** An acceptance names the permission that it rests on. */
interface Use {
  readonly origin: string
  readonly seq: number
  readonly release: string
  readonly isWhole: boolean
}

const TAKEN = [
  'HANDOFF_ACCEPTED',
  'DEAD_LETTERED',
  'RELEASE_APPROVED',
  'HANDOFF_RELEASED',
  'HANDOFF_REDACTED',
] as const satisfies readonly AuditEvent[]

const UNKNOWN = 'it rests on a release that no record gives'

/**
 * Keeps what was stopped and what people decided. Of a handoff whose first records have expired nothing is said. What a bulk re-drive
 * puts back overrides nothing, takes no votes and names no release.
 */
export function createReleaseVotes(areTasksWhole: boolean): ReleaseVotes {
  const voters = new Map<string, Set<string>>()
  const stopped = new Set<string>()
  const releases: Release[] = []
  const given = new Set<string>()
  const uses: Use[] = []
  const begins = new Map<string, number>()

  const isWhole = ({ origin, seq }: RecordBody): boolean => {
    if (!begins.has(origin)) begins.set(detached(origin), seq)
    return areTasksWhole || begins.get(origin) === 0
  }

  function vote({ handoffId, epoch, act }: RecordBody): void {
    const ballot = `${detached(handoffId)} ${epoch}`
    const known = voters.get(ballot) ?? new Set()
    voters.set(ballot, known.add(detached(String(act?.actor))))
  }

  function release(record: RecordBody, needed: number): void {
    const { origin, seq, handoffId, epoch } = record
    const ballot = `${detached(handoffId)} ${epoch}`
    releases.push({
      origin: detached(origin),
      seq,
      ballot,
      handoffId: detached(handoffId),
      needed,
      isWhole: isWhole(record),
    })
  }

  const take: Readonly<Record<(typeof TAKEN)[number], (record: RecordBody) => void>> = {
    DEAD_LETTERED: ({ handoffId }) => stopped.add(detached(handoffId)),
    RELEASE_APPROVED: vote,
    HANDOFF_REDACTED: (record) => release(record, votersNeeded(record.reason)),
    HANDOFF_RELEASED(record) {
      if (typeof record.release !== 'string') return
      given.add(detached(record.release))
      release(record, votersNeeded(record.reason))
    },
    HANDOFF_ACCEPTED(record) {
      if (typeof record.release !== 'string') return
      const { origin, seq } = record
      uses.push({
        origin: detached(origin),
        seq,
        release: detached(record.release),
        isWhole: isWhole(record),
      })
    },
  }

  function shortOf({ origin, seq, ballot, needed }: Release): UnvotedRelease | undefined {
    const votes = voters.get(ballot)?.size ?? 0
    const message = `it takes the votes of ${needed} people, and ${votes} voted for it`
    return votes < needed ? { origin, seq, message } : undefined
  }

  return {
    next(record) {
      isWhole(record)
      const event = TAKEN.find((one) => one === record.event)
      if (event !== undefined) take[event](record)
    },
    finish: () => [
      ...releases
        .filter((one) => one.isWhole || stopped.has(one.handoffId))
        .flatMap((one) => shortOf(one) ?? []),
      ...uses
        .filter((one) => one.isWhole && !given.has(one.release))
        .map(({ origin, seq }) => ({ origin, seq, message: UNKNOWN })),
    ],
  }
}
