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
  /** By handoff and epoch. */
  const voters = new Map<string, Set<string>>()
  const reasons = new Map<string, string | null>()
  /** The last epoch in which a handoff was stopped. */
  const stopped = new Map<string, number>()
  /** By id: the handoffs that it was given for, and in which epoch. */
  const given = new Map<string, Map<string, number>>()
  /** Those that nothing has made use of yet, by handoff. */
  const open = new Map<string, readonly Release[]>()
  const early: Use[] = []
  const wrong: WrongRelease[] = []

  function vote({ handoffId, epoch, act }: RecordBody): void {
    const ballot = ballotOf(handoffId, epoch)
    const known = voters.get(ballot) ?? new Set()
    voters.set(ballot, known.add(detached(String(act?.actor))))
  }

  function stop({ handoffId, epoch, reason }: RecordBody): void {
    const id = detached(handoffId)
    reasons.set(ballotOf(id, epoch), reason === null ? null : detached(reason))
    stopped.set(id, Math.max(epoch, stopped.get(id) ?? 0))
  }

  function release(record: RecordBody, isWhole: boolean): void {
    const { epoch, reason } = record
    const handoffId = detached(record.handoffId)
    const id = typeof record.release === 'string' ? detached(record.release) : undefined
    if (id === undefined && record.event === 'HANDOFF_RELEASED') return
    if (id !== undefined) given.set(id, (given.get(id) ?? new Map()).set(handoffId, epoch))
    const one = { ...placeOf(record), handoffId, epoch, reason: reason && detached(reason), id }
    open.set(handoffId, [...(open.get(handoffId) ?? []), { ...one, isWhole }])
  }

  function use(record: RecordBody, isWhole: boolean): void {
    const { handoffId, epoch, release: id } = record
    if (typeof id !== 'string') return
    const givenIn = given.get(id)?.get(handoffId)
    if (givenIn === undefined) {
      const named = { handoffId: detached(handoffId), release: detached(id) }
      early.push({ ...placeOf(record), ...named, isWhole })
      return
    }
    const stoppedIn = stopped.get(handoffId) ?? 0
    if (stoppedIn > givenIn && epoch > stoppedIn)
      wrong.push({ ...placeOf(record), message: WORDS.ended })
  }

  function goOn({ handoffId, epoch, release: id }: RecordBody): void {
    const waiting = open.get(handoffId)
    if (waiting === undefined) return
    const isUsed = (one: Release) => epoch > one.epoch || (id !== undefined && one.id === id)
    const used = waiting.filter(isUsed)
    wrong.push(...used.flatMap((one) => faultsOf(one, true)))
    if (used.length === waiting.length) open.delete(handoffId)
    else
      open.set(
        detached(handoffId),
        waiting.filter((one) => !isUsed(one)),
      )
  }

  function faultsOf(one: Release, wentOn: boolean): readonly WrongRelease[] {
    const { origin, seq, handoffId, epoch, id, isWhole } = one
    const ballot = ballotOf(handoffId, epoch)
    const reason = reasons.get(ballot)
    const found: string[] = reason === undefined || reason === one.reason ? [] : [WORDS.reason]
    if (isWhole || stopped.has(handoffId)) {
      // Why it was stopped stands in the log when it goes on; until then the record of that may be under way.
      const known = reason ?? (wentOn && isWhole ? null : one.reason)
      // A release overrides a check, and no interruption is one.
      const needed = id === undefined ? votersNeeded(known) : votersNeeded(null)
      const votes = voters.get(ballot)?.size ?? 0
      const counted = wentOn ? `${votes} had voted when it went on` : `${votes} voted for it`
      if (votes < needed) found.push(`it takes the votes of ${needed} people, and ${counted}`)
    }
    return found.map((message) => ({ origin, seq, message }))
  }

  function faultOf({ origin, seq, handoffId, release: id, isWhole }: Use): readonly WrongRelease[] {
    const handoffs = given.get(id)
    if (handoffs === undefined) return isWhole ? [{ origin, seq, message: WORDS.unknown }] : []
    const message = handoffs.has(handoffId) ? WORDS.later : WORDS.other
    return [{ origin, seq, message }]
  }

  return {
    next(record, isWhole) {
      const { event } = record
      if (event === 'RELEASE_APPROVED') vote(record)
      else if (event === 'DEAD_LETTERED') stop(record)
      else if (event === 'HANDOFF_RELEASED' || event === 'HANDOFF_REDACTED')
        release(record, isWhole)
      else {
        use(record, isWhole)
        if (EFFECTS.has(event)) goOn(record)
      }
    },
    finish: () => [
      ...wrong,
      ...[...open.values()].flat().flatMap((one) => faultsOf(one, false)),
      ...early.flatMap(faultOf),
    ],
  }
}

const ballotOf = (handoffId: string, epoch: number): string => `${detached(handoffId)} ${epoch}`

const placeOf = ({ origin, seq }: RecordBody): Place => ({ origin: detached(origin), seq })
