// Which decisions of a trace no signature proves that counts here: the log proves that they were recorded, and not who made them.
import { entryFault } from '@baton/ledger'
import type { People } from '@baton/ledger'
import type { TraceRecord } from '@baton/audit'
import { short } from '../terminal/figures.ts'

type Told = Pick<TraceRecord['body'], 'event' | 'taskId' | 'handoffId' | 'act' | 'recordedAt'>

export interface Unproven {
  readonly event: Told['event']
  readonly handoffId: string
  readonly actor: string | null
  /** `unsigned` is also what was decided before people signed; `unknown_key` what nobody signed who is known here. */
  readonly fault: NonNullable<ReturnType<typeof entryFault>>
}

/** None where nobody is known whose decisions count: then nothing can be said. */
export const unprovenDecisions = (bodies: readonly Told[], people: People): readonly Unproven[] =>
  people.size === 0
    ? []
    : bodies.flatMap((body) => {
        const fault = entryFault(body, people, Date.parse(body.recordedAt))
        const { event, handoffId, act } = body
        return fault === undefined ? [] : [{ event, handoffId, actor: act?.actor ?? null, fault }]
      })

export const signerLine = ({ event, handoffId, actor, fault }: Unproven): string =>
  `${event} of ${short(handoffId)} by ${actor ?? 'nobody'}: ${WORDS[fault] ?? OTHER_WORDS}.`

const OTHER_WORDS = 'its signature is none of theirs that counts here'
const WORDS: Readonly<Partial<Record<Unproven['fault'], string>>> = {
  unsigned: 'not signed, as before people signed decisions',
  expired_key: 'signed by a key that had ended',
  unknown_key: 'signed by a key that nobody here knows (BATON_PEOPLE)',
}
