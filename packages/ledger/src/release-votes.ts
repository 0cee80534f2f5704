// Whether what was stopped went on by a release or a redaction of its own, by the votes of so many different people as it takes, and
// whether those stood in the log by then.
import type { AuditEvent } from './audit-event.ts'
import { detached } from './bytes.ts'
import type { RecordBody } from './record.ts'

interface Place {
  readonly origin: string
  readonly seq: number
}

interface WrongRelease extends Place {
  readonly message: string
}

export interface ReleaseVotes {
  /** `isWhole`: what came before this record of its task has come by. */
  next(record: RecordBody, isWhole: boolean): void
  /** What was let through by fewer people than it takes, or by no release of its own. */
  finish(): readonly WrongRelease[]
}

/** What only an interruption stopped: nothing is overridden when it goes on, so one person is enough. */
const INTERRUPTED: readonly (string | null)[] = ['POISON', 'UNRECORDABLE']

/** How many different people it takes to let a handoff past the check that stopped it, or to take texts out of it. */
const votersNeeded = (reason: string | null): number => (INTERRUPTED.includes(reason) ? 1 : 2)

interface Release extends Place {
  readonly handoffId: string
  readonly epoch: number
  readonly reason: string | null
  /** Of a release; a redaction has none, and everything is judged again. */
  readonly id: string | undefined
  /** Every vote must be here too. */
  readonly isWhole: boolean
}

/** An acceptance names the release that it rests on. */
interface Use extends Place {
  readonly handoffId: string
  readonly release: string
  readonly isWhole: boolean
}

/** That a handoff went on. */
const EFFECTS: ReadonlySet<AuditEvent> = new Set([
  'HANDOFF_ACCEPTED',
  'EXECUTION_STARTED',
  'EXECUTION_COMPLETED',
  'EXECUTION_FAILED',
])

const WORDS = {
  unknown: 'it rests on a release that no record gives',
  later: 'it rests on a release that was given later',
  other: 'it rests on the release of another handoff',
  ended: 'it rests on a release from before the handoff was stopped again',
  reason: 'it names another reason than the one that the handoff was stopped for',
} as const

/**
 * Keeps what was stopped and what people decided. What is recorded of a stop, its votes and its release may come in any order: all of
 * it stands in the log before the handoff is accepted again, however long the log could not be reached, and by then it is counted. Of a
 * handoff whose first records have expired little is said. What a bulk re-drive puts back overrides nothing, takes no votes and names
 * no release.
 */
export function createReleaseVotes(): ReleaseVotes {
  const rounds = createRounds()
  const uses = createUses(rounds)
  /** Those that nothing has made use of yet, by handoff. */
  const open = new Map<string, readonly Release[]>()
  const wrong: WrongRelease[] = []

  function release(record: RecordBody, isWhole: boolean): void {
    const { epoch, reason } = record
    const handoffId = detached(record.handoffId)
    const id = typeof record.release === 'string' ? detached(record.release) : undefined
    if (id === undefined && record.event === 'HANDOFF_RELEASED') return
    if (id !== undefined) uses.give(id, record)
    const one = { ...placeOf(record), handoffId, epoch, reason: reason && detached(reason), id }
    open.set(handoffId, [...(open.get(handoffId) ?? []), { ...one, isWhole }])
  }

  function goOn({ handoffId, epoch, release: id }: RecordBody): void {
    const waiting = open.get(handoffId)
    if (waiting === undefined) return
    const isUsed = (one: Release) => epoch > one.epoch || (id !== undefined && one.id === id)
    const { used = [], rest } = Object.groupBy(waiting, (one) => (isUsed(one) ? 'used' : 'rest'))
    wrong.push(...used.flatMap((one) => faultsOf(one, rounds, true)))
    if (rest === undefined) open.delete(handoffId)
    else open.set(detached(handoffId), rest)
  }

  return {
    next(record, isWhole) {
      const { event } = record
      if (event === 'RELEASE_APPROVED') rounds.vote(record)
      else if (event === 'DEAD_LETTERED') rounds.stop(record)
      else if (event === 'HANDOFF_RELEASED' || event === 'HANDOFF_REDACTED')
        release(record, isWhole)
      else uses.use(record, isWhole)
      if (EFFECTS.has(event)) goOn(record)
    },
    finish: () => [
      ...wrong,
      ...[...open.values()].flat().flatMap((one) => faultsOf(one, rounds, false)),
      ...uses.finish(),
    ],
  }
}

type Rounds = ReturnType<typeof createRounds>

/** Each time that a handoff was stopped: why, and who voted for letting it go on. */
function createRounds() {
  /** Both by handoff and epoch. */
  const voters = new Map<string, Set<string>>()
  const reasons = new Map<string, string | null>()
  /** The last epoch in which a handoff was stopped. */
  const stopped = new Map<string, number>()
  return {
    vote({ handoffId, epoch, act }: RecordBody): void {
      const ballot = ballotOf(handoffId, epoch)
      const known = voters.get(ballot) ?? new Set()
      voters.set(ballot, known.add(detached(String(act?.actor))))
    },
    stop({ handoffId, epoch, reason }: RecordBody): void {
      const id = detached(handoffId)
      reasons.set(ballotOf(id, epoch), reason && detached(reason))
      stopped.set(id, Math.max(epoch, stopped.get(id) ?? 0))
    },
    votes: ({ handoffId, epoch }: Release): number =>
      voters.get(ballotOf(handoffId, epoch))?.size ?? 0,
    /** Undefined where no record tells of the stop. */
    reason: ({ handoffId, epoch }: Release): string | null | undefined =>
      reasons.get(ballotOf(handoffId, epoch)),
    lastStop: (handoffId: string): number | undefined => stopped.get(handoffId),
  }
}

function faultsOf(one: Release, rounds: Rounds, wentOn: boolean): readonly WrongRelease[] {
  const { origin, seq, handoffId, id, isWhole } = one
  const reason = rounds.reason(one)
  const found: string[] = reason === undefined || reason === one.reason ? [] : [WORDS.reason]
  if (isWhole || rounds.lastStop(handoffId) !== undefined) {
    // Why it was stopped stands in the log when it goes on; until then the record of that may be under way.
    const known = reason ?? (wentOn && isWhole ? null : one.reason)
    // A release overrides a check, and no interruption is one.
    const needed = id === undefined ? votersNeeded(known) : votersNeeded(null)
    const votes = rounds.votes(one)
    const counted = wentOn ? `${votes} had voted when it went on` : `${votes} voted for it`
    if (votes < needed) found.push(`it takes the votes of ${needed} people, and ${counted}`)
  }
  return found.map((message) => ({ origin, seq, message }))
}

/** What names a release: it rests on one of its own handoff, given before and not ended by another stop. */
function createUses(rounds: Rounds) {
  /** By id: the handoffs that it was given for, and in which epoch. */
  const given = new Map<string, Map<string, number>>()
  const early: Use[] = []
  const wrong: WrongRelease[] = []

  function faultOf({ origin, seq, handoffId, release, isWhole }: Use): readonly WrongRelease[] {
    const handoffs = given.get(release)
    if (handoffs === undefined) return isWhole ? [{ origin, seq, message: WORDS.unknown }] : []
    const message = handoffs.has(handoffId) ? WORDS.later : WORDS.other
    return [{ origin, seq, message }]
  }

  return {
    give(id: string, { handoffId, epoch }: RecordBody): void {
      given.set(id, (given.get(id) ?? new Map()).set(detached(handoffId), epoch))
    },
    use(record: RecordBody, isWhole: boolean): void {
      const { handoffId, epoch, release } = record
      if (typeof release !== 'string') return
      const givenIn = given.get(release)?.get(handoffId)
      if (givenIn === undefined) {
        const named = { handoffId: detached(handoffId), release: detached(release) }
        early.push({ ...placeOf(record), ...named, isWhole })
        return
      }
      const stoppedIn = rounds.lastStop(handoffId) ?? 0
      if (stoppedIn > givenIn && epoch > stoppedIn)
        wrong.push({ ...placeOf(record), message: WORDS.ended })
    },
    finish: (): readonly WrongRelease[] => [...wrong, ...early.flatMap(faultOf)],
  }
}

const ballotOf = (handoffId: string, epoch: number): string => `${detached(handoffId)} ${epoch}`

const placeOf = ({ origin, seq }: RecordBody): Place => ({ origin: detached(origin), seq })
