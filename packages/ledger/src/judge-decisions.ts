// Judges the decisions of people among the records of a log or a bundle, as they come by: whether each is signed by its person with a
// key that is trusted here, and whether those were different people where it takes two. Trusts no key because the records name it.
import type { AuditEvent } from './audit-event.ts'
import { detached } from './bytes.ts'
import { parseInstant } from './instant.ts'
import { createListedPeople } from './listed-people.ts'
import type { People } from './people.ts'
import { DECIDED_AS, entryFault, isDecision, signedAs } from './recorded-decision.ts'
import type { DecisionFault, RecordedSignature } from './recorded-decision.ts'
import type { RecordBody } from './record.ts'
import { createReleaseVotes } from './release-votes.ts'

/** How many records of decisions there are of each kind. */
export interface DecisionTally {
  /** Signed by a key that is trusted for it. */
  readonly trusted: number
  /** Signed by a key that nobody named, that has no role for it, or that had ended. */
  readonly untrusted: number
  readonly unsigned: number
  /** Not what its person signed, or not that person's to decide. */
  readonly wrong: number
}

export interface DecisionFinding {
  readonly origin: string
  readonly seq: number
  /** `wrong`: no gateway and no auditor takes it so. `unproven`, `unsigned`: who decided it cannot be said. */
  readonly kind: 'wrong' | 'unproven' | 'unsigned'
  /** One sentence without any stored text. */
  readonly message: string
}

export interface Judged {
  /** What is known of the decision that the record tells of, so far; undefined where it tells of none. */
  readonly decision: keyof DecisionTally | undefined
  readonly findings: readonly DecisionFinding[]
}

export interface DecisionJudge {
  /** Takes every record, each chain in its order. */
  next(record: RecordBody): Judged
  /** What only shows when every record has come by. */
  finish(): readonly DecisionFinding[]
  tally(): DecisionTally
}

interface JudgeOptions {
  readonly people: People
  /** Of single tasks: whether all came by that was recorded of its task before it. Whole chains say so themselves. */
  readonly isWhole?: (record: RecordBody) => boolean
}

/** A decision by a key that is none of those that are trusted here. */
interface Stranger extends Place {
  readonly recordedAt: number
  readonly person: string
  readonly keyId: string
}

const NOTHING: readonly DecisionFinding[] = []

export function createDecisionJudge({ people, isWhole }: JudgeOptions): DecisionJudge {
  const counts = { trusted: 0, untrusted: 0, unsigned: 0, wrong: 0 }
  const beginning = createBeginning(isWhole)
  const senders = createSenders()
  const votes = createReleaseVotes()
  const plans = createPlans(isWhole === undefined ? undefined : 'no_plan')
  const listed = createListedPeople()
  const strangers: Stranger[] = []
  /** The signatures that stand in records already. */
  const used = new Set<string>()

  function faultOf(record: RecordBody): Fault | undefined {
    const { event, act } = record
    if (PLANS.has(event)) plans.asked(record)
    const fault = recordFault(record, people)
    if (fault !== undefined && KINDS[fault] === 'wrong') return fault
    if (event === 'ERASURE_COMPLETED')
      return plans.faultOf(record, beginning.isWhole(record)) ?? fault
    // The same plan may stand in several records.
    if (fault !== undefined || PLANS.has(event)) return fault
    const { id } = act as NonNullable<RecordBody['act']>
    if (used.has(id)) return 'used'
    used.add(detached(id))
    return undefined
  }

  function judge(record: RecordBody): Judged {
    const fault = faultOf(record) ?? (senders.decided(record) ? 'own' : undefined)
    const kind = fault === undefined ? 'trusted' : KINDS[fault]
    const decision = kind === 'unproven' ? 'untrusted' : kind
    counts[decision] += 1
    if (fault === 'unknown_key') meet(record)
    if (fault === undefined || fault === 'unknown_key' || kind === 'trusted')
      return { decision, findings: NOTHING }
    return { decision, findings: [{ ...placeOf(record), kind, message: WORDS[fault] }] }
  }

  /** What it comes to is known when all that the log lists has come by. */
  function meet(record: RecordBody): void {
    const { actor = '', signed } = record.act ?? {}
    strangers.push({
      ...placeOf(record),
      recordedAt: parseInstant(record.recordedAt) ?? -Infinity,
      person: detached(actor),
      keyId: detached(signed?.keyId ?? ''),
    })
  }

  function strangersFinding(one: Stranger): DecisionFinding {
    const { origin, seq, recordedAt, person, keyId } = one
    const isComplete = beginning.areChainsWhole() && recordedAt >= listed.completeFrom()
    if (!isComplete || listed.has(person, keyId))
      return { origin, seq, kind: 'unproven', message: WORDS.unknown_key }
    counts.untrusted -= 1
    counts.wrong += 1
    return { origin, seq, kind: 'wrong', message: UNLISTED }
  }

  return {
    next(record) {
      votes.next(record, beginning.isWhole(record))
      listed.next(record)
      const owned = senders.sent(record)
      counts.trusted -= owned.length
      counts.wrong += owned.length
      const own = owned.map((place) => ({ ...place, kind: 'wrong' as const, message: WORDS.own }))
      if (!isDecision(signedAs(record.event))) return { decision: undefined, findings: own }
      const { decision, findings } = judge(record)
      return { decision, findings: [...own, ...findings] }
    },
    finish: () => [
      ...strangers.splice(0).map(strangersFinding),
      ...votes.finish().map((one) => ({ ...one, kind: 'wrong' as const })),
    ],
    tally: () => ({ ...counts }),
  }
}

const PLANS: ReadonlySet<AuditEvent> = new Set(['ERASURE_REQUESTED', 'ERASURE_DEFERRED'])

type Fault = DecisionFault | 'own' | 'used' | 'same_person' | 'unplanned' | 'no_plan'

const KINDS: Readonly<Record<Fault, DecisionFinding['kind']>> = {
  unsigned: 'unsigned',
  unknown_key: 'unproven',
  role: 'unproven',
  expired_key: 'unproven',
  clock: 'unproven',
  other_person: 'wrong',
  other_content: 'wrong',
  signature: 'wrong',
  used: 'wrong',
  own: 'wrong',
  same_person: 'wrong',
  unplanned: 'wrong',
  no_plan: 'unproven',
}

const WORDS: Readonly<Record<Fault, string>> = {
  unsigned: 'nobody signed this decision',
  unknown_key: 'the decision is signed with a key that is none of those that are trusted here',
  role: 'the decision is signed with a key that has not the role for it here',
  expired_key: 'the decision is signed with a key that had ended long before it was recorded',
  clock: 'the decision is signed at a time that cannot be',
  other_person: 'the decision names another person than its key belongs to',
  other_content: 'the signature is over another decision',
  signature: 'the signature is wrong: it is not over this decision',
  used: 'the signature is that of an earlier decision, which it is recorded for already',
  own: 'who decided about it had sent it',
  same_person: 'one person alone had this erased: who planned it confirmed it',
  unplanned: 'this erasure was carried out, and no record plans it',
  no_plan: 'this erasure was carried out, and no record that is here plans it',
}

const UNLISTED =
  'the decision is signed with no key of this person that this log ever listed, and the auditor lists every key before it records what it decided'

const placeOf = ({ origin, seq }: RecordBody): Place => ({ origin: detached(origin), seq })

function recordFault(record: RecordBody, people: People): DecisionFault | undefined {
  const signed = signedOf(record)
  if (signed === undefined) return record.act?.signed === undefined ? 'unsigned' : 'signature'
  return entryFault(record, people, (parseInstant(record.recordedAt) ?? Infinity) / 1_000)
}

const FORMS = {
  keyId: /^[0-9a-f]{16}$/,
  signedAt: /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  content: /^[0-9a-f]{64}$/,
  signature: /^[A-Za-z0-9+/]{86}==$/,
} as const satisfies Record<keyof RecordedSignature, RegExp>

/** Undefined too where it has another form: a record of a bundle need not have been checked. */
function signedOf({ act }: RecordBody): RecordedSignature | undefined {
  const { signed } = act ?? {}
  if (typeof act?.id !== 'string' || typeof act.actor !== 'string') return undefined
  const isFormed = Object.entries(FORMS).every(([name, form]) => {
    const value: unknown = signed?.[name as keyof RecordedSignature]
    return typeof value === 'string' && form.test(value)
  })
  return isFormed && signed !== undefined && isTime(signed.signedAt) ? signed : undefined
}

/** The parser takes days that their month does not have for later ones, and other readers refuse them. */
function isTime(signedAt: string): boolean {
  const ms = Date.parse(signedAt)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === signedAt
}

/** Whether what came before in the task of a record has come by. Chains follow each other, the one in which a task began first. */
function createBeginning(isTaskWhole: JudgeOptions['isWhole']) {
  const origins = new Set<string>()
  // Without the chains between nobody knows what else they hold.
  let areChainsWhole = isTaskWhole === undefined
  return {
    /** As far as they have come by. */
    areChainsWhole: () => areChainsWhole,
    isWhole(record: RecordBody): boolean {
      const { origin, seq, taskSeq } = record
      if (!origins.has(origin)) {
        origins.add(detached(origin))
        areChainsWhole &&= seq === 0
      }
      return areChainsWhole || taskSeq === 0 || isTaskWhole?.(record) === true
    },
  }
}

/** Who asked for an erasure, before it was carried out. In a log a plan may have expired; of a single task it is `missing`. */
function createPlans(missing: Fault | undefined) {
  const askedBy = new Map<string, Set<unknown>>()
  return {
    // Also where nobody proves that it is theirs: who confirms a plan in their own name is not a second person.
    asked({ handoffId, act }: RecordBody): void {
      const actor = typeof act?.actor === 'string' ? detached(act.actor) : undefined
      const known = askedBy.get(handoffId) ?? new Set()
      askedBy.set(detached(handoffId), known.add(actor))
    },
    faultOf({ handoffId, act }: RecordBody, isWhole: boolean): Fault | undefined {
      const known = askedBy.get(handoffId)
      if (known === undefined) return isWhole ? 'unplanned' : missing
      return known.has(act?.actor) ? 'same_person' : undefined
    },
  }
}

interface Place {
  readonly origin: string
  readonly seq: number
}

interface Senders {
  /** The decisions about it that its sender turns out to have made. */
  sent(record: RecordBody): readonly Place[]
  /** Whether its sender decided about it. */
  decided(record: RecordBody): boolean
}

/** After these nobody decides about a handoff any more. */
const ENDED: ReadonlySet<AuditEvent> = new Set([
  'EXECUTION_COMPLETED',
  'HANDOFF_CANCELED',
  'HANDOFF_EXPIRED',
  'APPROVAL_REFUSED',
  'DEAD_LETTER_DISCARDED',
])

/** Who sent a handoff is told when it is judged: before a release, and after an approval. Keeps open handoffs only. */
function createSenders(): Senders {
  const senders = new Map<string, ReadonlySet<string>>()
  const waiting = new Map<string, readonly (Place & { readonly actor: string })[]>()

  function sent(record: RecordBody): readonly Place[] {
    const { handoffId, event, sentBy } = record
    // Whoever corrects it is its sender from then on; what was decided before was about another's.
    if (event === 'HANDOFF_REVISED') waiting.delete(handoffId)
    if (typeof sentBy !== 'string') return []
    const known = senders.get(handoffId)
    if (known?.has(sentBy) !== true)
      senders.set(detached(handoffId), new Set([...(known ?? []), detached(sentBy)]))
    const own = waiting.get(handoffId)?.filter(({ actor }) => actor === sentBy) ?? []
    waiting.delete(handoffId)
    return own.map(({ origin, seq }) => ({ origin, seq }))
  }

  return {
    sent(record) {
      const own = sent(record)
      // A decision that ends it is judged first.
      if (ENDED.has(record.event) && !isDecision(record.event)) senders.delete(record.handoffId)
      return own
    },
    decided(record) {
      const { event, handoffId, act } = record
      if (!isDecision(event) || DECIDED_AS[event] !== 'reviewer') return false
      const actor = detached(act?.actor ?? '')
      const isOwn = senders.get(handoffId)?.has(actor) === true
      if (ENDED.has(event)) senders.delete(handoffId)
      else if (!isOwn && !senders.has(handoffId))
        waiting.set(detached(handoffId), [
          ...(waiting.get(handoffId) ?? []),
          { ...placeOf(record), actor },
        ])
      return isOwn
    },
  }
}
