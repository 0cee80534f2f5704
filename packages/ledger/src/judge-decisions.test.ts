// Decisions among records: proven where their person signed them, and told by place and fault where not.
import { describe, expect, it } from 'vitest'
import { chainOf, ORIGIN } from '../fixtures/chain.ts'
import { actOf, decidedBy, entriesOf } from '../fixtures/deciders.ts'
import type { Decider } from '../fixtures/deciders.ts'
import { entryOf } from '../fixtures/entry.ts'
import type { AuditEntry } from './audit-entry.ts'
import type { AuditEvent } from './audit-event.ts'
import { createDecisionJudge } from './judge-decisions.ts'
import { peopleEntries } from './people-entries.ts'
import { parsePeople, personEntry } from './people.ts'
import { readRecord } from './record.ts'
import type { RecordBody } from './record.ts'

const TASK = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const HANDOFF = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
const RELEASE = '0b8f0f5e-8f43-4f0a-9d53-6a7d1c5f2e31'
const ERASURE = '3f2504e0-4f89-41d3-9a0c-0305e82c3399'

const of = (event: AuditEvent, more: Partial<AuditEntry> = {}): AuditEntry =>
  entryOf({ taskId: TASK, handoffId: HANDOFF, event, reason: 'SAFETY_VIOLATION', ...more })
const stopped = of('HANDOFF_REJECTED', { sentBy: 'sam' })
const letter = of('DEAD_LETTERED')
const vote = of('RELEASE_APPROVED')
const released = of('HANDOFF_RELEASED', { release: RELEASE })
const accepted = of('HANDOFF_ACCEPTED', { release: RELEASE, sentBy: 'sam', epoch: 2 })
const erasure = (event: AuditEvent, epoch = 0): AuditEntry =>
  entryOf({ taskId: ERASURE, handoffId: ERASURE, event, epoch })

const bodiesOf = (entries: readonly AuditEntry[]): readonly RecordBody[] =>
  chainOf(entries).records.map(({ body }) => readRecord(body) as RecordBody)

function judged(
  entries: readonly AuditEntry[],
  { people = entriesOf(), from = 0, areTasksWhole = false } = {},
) {
  const judge = createDecisionJudge({
    people: parsePeople(people.join()),
    ...(areTasksWhole ? { isWhole: () => true } : {}),
  })
  const found = bodiesOf(entries)
    .slice(from)
    .flatMap((body) => judge.next(body).findings)
  return { found: [...found, ...judge.finish()], tally: judge.tally() }
}
const faults = (...given: Parameters<typeof judged>) =>
  judged(...given).found.map(({ seq, kind, message }) => [seq, kind, message])

const anna = decidedBy(vote, 'anna')
const ben = decidedBy(vote, 'ben')
const whole = [stopped, letter, anna, ben, released, accepted, of('EXECUTION_COMPLETED')]

describe('the decisions among records', () => {
  it('are proven by the signatures of their people', () => {
    expect(judged(whole)).toEqual({
      found: [],
      tally: { trusted: 2, untrusted: 0, unsigned: 0, wrong: 0 },
    })
    const erased = [
      decidedBy(erasure('ERASURE_DEFERRED'), 'carol'),
      decidedBy(erasure('ERASURE_REQUESTED'), 'carol'),
      { ...erasure('ERASURE_REQUESTED', 1), act: actOf(erasure('ERASURE_REQUESTED'), 'carol') },
      decidedBy(erasure('ERASURE_COMPLETED'), 'dora'),
    ]
    expect(faults(erased)).toEqual([])
    const held = [
      decidedBy(of('LEGAL_HOLD_SET'), 'carol'),
      decidedBy(of('LEGAL_HOLD_LIFTED'), 'dora'),
    ]
    expect(faults(held)).toEqual([])
  })

  it.each([
    [
      'the signature of another key under a name',
      decidedBy(vote, 'ben', { by: 'eve' }),
      'unproven',
      /none of those/,
    ],
    [
      'the signature of another person',
      decidedBy(vote, 'ben', { by: 'anna' }),
      'wrong',
      /another person/,
    ],
    ['a person without the role', decidedBy(vote, 'carol'), 'unproven', /role/],
    ['no signature', { ...vote, act: { id: RELEASE, actor: 'ben' } }, 'unsigned', /nobody signed/],
    ['no act', vote, 'unsigned', /nobody signed/],
    [
      'the signature of another handoff',
      { ...vote, act: actOf({ ...vote, handoffId: TASK }, 'ben') },
      'wrong',
      /wrong/,
    ],
    [
      'the signature of another event',
      { ...vote, act: actOf({ ...vote, event: 'HANDOFF_APPROVED' }, 'ben') },
      'wrong',
      /wrong/,
    ],
    [
      'a signature under the id of another act',
      { ...vote, act: { ...actOf(vote, 'ben'), id: RELEASE } },
      'wrong',
      /wrong/,
    ],
  ] as const)('tell of %s', (_, second, kind, message) => {
    const entries = [stopped, letter, anna, second, decidedBy(vote, 'ben'), released]
    expect(faults(entries)).toEqual([[3, kind, expect.stringMatching(message)]])
  })

  it('take no key that had ended when the log recorded it, whatever time its signature names', () => {
    const ended = entriesOf(['anna', 'ben'], '2023-11-07')
    const past = new Date('2023-11-06T12:00:00Z')
    const backdated = [
      letter,
      decidedBy(vote, 'anna', { at: past }),
      decidedBy(vote, 'ben', { at: past }),
    ]
    expect(faults(backdated, { people: ended })).toEqual([
      [1, 'unproven', expect.stringContaining('had ended')],
      [2, 'unproven', expect.stringContaining('had ended')],
    ])
    expect(faults(whole, { people: entriesOf(['anna', 'ben'], '2023-11-15') })).toEqual([])
    // It may have waited out an outage.
    expect(faults(backdated, { people: entriesOf(['anna', 'ben'], '2023-11-08') })).toEqual([])
  })

  it('are not the sender’s: told before a release, and after an approval', () => {
    const own = [of('HANDOFF_REJECTED', { sentBy: 'ben' }), letter, anna, ben, released]
    expect(judged(own)).toMatchObject({
      found: [
        { seq: 3, kind: 'wrong', origin: ORIGIN, message: expect.stringContaining('had sent it') },
      ],
      tally: { trusted: 1, wrong: 1 },
    })
    const approval = decidedBy(of('HANDOFF_APPROVED'), 'anna')
    const sent = of('HANDOFF_ACCEPTED', { sentBy: 'anna' })
    expect(judged([approval, sent])).toMatchObject({
      found: [{ seq: 0, kind: 'wrong' }],
      tally: { trusted: 0, wrong: 1 },
    })
    // What she approved was another's; then she corrected it herself.
    const revised = of('HANDOFF_REVISED', { act: { id: RELEASE, actor: 'anna' } })
    const again = decidedBy(of('HANDOFF_APPROVED'), 'ben')
    expect(faults([approval, revised, again, sent])).toEqual([])
  })

  it('are each made once', () => {
    const next = { ...released, epoch: 2, release: TASK }
    const replayed = { ...anna, epoch: 2 }
    expect(faults([...whole, replayed, { ...ben, epoch: 2 }, next])).toEqual([
      [7, 'wrong', expect.stringContaining('earlier decision')],
      [8, 'wrong', expect.stringContaining('earlier decision')],
    ])
  })

  it('are of so many people as it takes', () => {
    const message = expect.stringContaining('takes the votes of 2 people, and 1 voted')
    expect(faults([stopped, letter, anna, released])).toEqual([[3, 'wrong', message]])
    const twice = decidedBy(vote, 'anna', { at: new Date('2023-11-14T22:13:11Z') })
    expect(faults([stopped, letter, anna, twice, released])).toEqual([[4, 'wrong', message]])
    expect(faults([stopped, letter, anna, of('HANDOFF_REDACTED')])).toEqual([[3, 'wrong', message]])
    const reason = 'POISON'
    const died = [{ ...letter, reason }, anna, of('HANDOFF_REDACTED', { reason })]
    expect(faults(died)).toEqual([])
    expect(faults([stopped, letter, accepted])).toEqual([
      [2, 'wrong', expect.stringContaining('no record gives')],
    ])
    const alone = [
      decidedBy(erasure('ERASURE_REQUESTED'), 'carol'),
      decidedBy(erasure('ERASURE_COMPLETED'), 'carol'),
    ]
    expect(faults(alone)).toEqual([[1, 'wrong', expect.stringContaining('one person alone')]])
    const plan = erasure('ERASURE_REQUESTED')
    const others = entriesOf().filter((entry) => !entry.startsWith('carol:'))
    const dora = decidedBy(erasure('ERASURE_COMPLETED'), 'dora')
    const inHerName = {
      ...decidedBy(plan, 'carol'),
      act: { ...actOf(plan, 'carol'), actor: 'dora' },
    }
    expect(faults([inHerName, dora], { people: others })).toEqual([
      [1, 'wrong', expect.stringContaining('one person alone')],
      [0, 'unproven', expect.stringContaining('none of those')],
    ])
    // A bulk re-drive names no release: all of it is judged again.
    expect(faults([stopped, letter, of('HANDOFF_RELEASED')])).toEqual([])
  })

  it('are on record before what they let through goes on', () => {
    const late = expect.stringContaining('and 0 had voted when it went on')
    expect(faults([stopped, letter, released, accepted, anna, ben])).toEqual([[2, 'wrong', late]])
    const redacted = of('HANDOFF_REDACTED')
    const judgedAgain = of('HANDOFF_ACCEPTED', { sentBy: 'sam', epoch: 2 })
    expect(faults([stopped, letter, redacted, judgedAgain, anna, ben])).toEqual([
      [2, 'wrong', late],
    ])
    // What waited out an outage comes in sets that overtake each other; all of it before it is accepted again.
    expect(faults([stopped, released, ben, letter, anna, accepted])).toEqual([])
    expect(faults([stopped, redacted, ben, letter, anna, judgedAgain])).toEqual([])
    // An earlier execution of it, which is told of late.
    const earlier = of('HANDOFF_ACCEPTED', { sentBy: 'sam', epoch: 0 })
    expect(faults([stopped, letter, released, earlier, anna, ben, accepted])).toEqual([])
  })

  it('let through what they were about, and only from then on', () => {
    const other = { ...accepted, handoffId: TASK }
    expect(faults([...whole, other])).toEqual([
      [7, 'wrong', expect.stringContaining('release of another handoff')],
    ])
    expect(
      faults([...whole, of('EXECUTION_COMPLETED', { handoffId: TASK, release: RELEASE })]),
    ).toEqual([[7, 'wrong', expect.stringContaining('release of another handoff')]])
    expect(faults([stopped, letter, accepted, anna, ben, released])).toEqual([
      [2, 'wrong', expect.stringContaining('given later')],
    ])
    const again = { ...accepted, epoch: 3 }
    expect(faults([...whole, again])).toEqual([])
    expect(faults([...whole, { ...letter, epoch: 3 }, { ...accepted, epoch: 4 }])).toEqual([
      [8, 'wrong', expect.stringContaining('stopped again')],
    ])
    // Whatever has expired, a release that stands in the log is of one handoff.
    expect(faults([...whole, other], { from: 5 })).toEqual([])
    expect(faults([...whole, other], { from: 4 })).toEqual([
      [7, 'wrong', expect.stringContaining('release of another handoff')],
    ])
  })

  it('are of so many people as what was stopped takes, whatever the release says of it', () => {
    const reason = 'POISON'
    const named = expect.stringContaining('another reason')
    const votes = expect.stringContaining('takes the votes of 2 people, and 1 had voted')
    const two = [
      [3, 'wrong', named],
      [3, 'wrong', votes],
    ]
    expect(faults([stopped, letter, anna, { ...released, reason }, accepted])).toEqual(two)
    const judgedAgain = of('HANDOFF_ACCEPTED', { sentBy: 'sam', epoch: 2 })
    const redacted = of('HANDOFF_REDACTED', { reason })
    expect(faults([stopped, letter, anna, redacted, judgedAgain])).toEqual(two)
    // A release overrides a check, so one person never gives it; nor is anything redacted that nothing stopped.
    expect(faults([{ ...letter, reason }, anna, { ...released, reason }, accepted])).toEqual([
      [2, 'wrong', votes],
    ])
    expect(faults([anna, redacted, judgedAgain])).toEqual([[1, 'wrong', votes]])
    expect(faults([{ ...letter, reason }, anna, redacted, judgedAgain])).toEqual([])
    // How it was stopped has expired.
    const expired = [
      anna,
      letter,
      { ...anna, epoch: 2 },
      { ...redacted, epoch: 2 },
      { ...judgedAgain, epoch: 3 },
    ]
    expect(faults(expired, { from: 2 })).toEqual([])
  })

  it('are planned by one person before another has them carried out', () => {
    const unplanned = expect.stringContaining('no record plans')
    const completed = decidedBy(erasure('ERASURE_COMPLETED'), 'carol')
    expect(faults([completed])).toEqual([[0, 'wrong', unplanned]])
    const plan = decidedBy(erasure('ERASURE_REQUESTED'), 'dora')
    expect(faults([completed, plan])).toEqual([[0, 'wrong', unplanned]])
    // Every one of several, though nobody signed it.
    const more = { ...erasure('ERASURE_COMPLETED', 1), act: { id: RELEASE, actor: 'carol' } }
    expect(faults([completed, more])).toEqual([
      [0, 'wrong', unplanned],
      [1, 'wrong', unplanned],
    ])
    // Its plan may have expired, and with it the records before this one.
    expect(faults([plan, completed], { from: 1 })).toEqual([])
    expect(faults([plan, completed], { from: 1, areTasksWhole: true })).toEqual([
      [1, 'wrong', unplanned],
    ])
    // The first record of its task has nothing before it, wherever the chain begins.
    expect(faults([letter, completed], { from: 1 })).toEqual([[1, 'wrong', unplanned]])
    // Another plan under the same id takes away nothing of the first.
    const other = decidedBy(erasure('ERASURE_REQUESTED', 1), 'carol')
    expect(faults([other, plan, completed])).toEqual([
      [2, 'wrong', expect.stringContaining('one person alone')],
    ])
  })

  it('are nobody’s by a key that the log, which lists them all, lists for no such person', () => {
    const listed = (names?: readonly Decider[]) =>
      peopleEntries(parsePeople(entriesOf(names).join()))
    const forged = [stopped, letter, decidedBy(vote, 'anna', { by: 'eve' }), ben, released]
    const unproven = expect.stringContaining('none of those that are trusted here')
    const unlisted = expect.stringContaining('no key of this person that this log ever listed')
    expect(judged([...listed(), ...forged])).toMatchObject({
      found: [{ seq: 3, kind: 'wrong', message: unlisted }],
      tally: { trusted: 1, untrusted: 0, wrong: 1 },
    })
    // Somebody else's key is none of hers.
    expect(faults([...listed(['eve', 'anna']), ...forged])).toEqual([[3, 'wrong', unlisted]])
    // A log from before keys were listed, and what it tells of then.
    expect(faults(forged)).toEqual([[2, 'unproven', unproven]])
    expect(faults([...forged, ...listed()])).toEqual([[2, 'unproven', unproven]])
    // What others list is no whole list, and what has expired may have listed it.
    const [ofAuditor] = listed()
    const ofGateway = {
      ...(ofAuditor as AuditEntry),
      operation: { ...(ofAuditor as AuditEntry).operation, subject: 'gateway' },
    } as AuditEntry
    expect(faults([ofGateway, ...forged])).toEqual([[3, 'unproven', unproven]])
    expect(faults([letter, ...listed(), ...forged], { from: 1 })).toEqual([
      [4, 'unproven', unproven],
    ])
  })

  it('are not forged because a key is not named here that counted once', () => {
    const others = entriesOf(['anna', 'carol', 'dora'])
    const unproven = expect.stringContaining('none of those that are trusted here')
    const listed = (names?: readonly Decider[]) =>
      peopleEntries(parsePeople(entriesOf(names).join()))
    expect(faults([...listed(), ...whole], { people: others })).toEqual([[4, 'unproven', unproven]])
    // Another auditor has it, or had it, and its list came to another chain.
    const early = [...listed(['anna']), ...whole, ...listed(['ben'])]
    expect(faults(early, { people: others })).toEqual([[4, 'unproven', unproven]])
    const many = parsePeople(
      Array.from({ length: 40 }, (_, at) =>
        personEntry(`p${at}`, ['reviewer'], new Uint8Array(32).fill(at)),
      ).join(),
    )
    const all = [...many, ...parsePeople(entriesOf().join())]
    const lists = peopleEntries(new Map(all))
    expect(lists).toHaveLength(2)
    expect(faults([...lists, ...whole], { people: others })).toEqual([[5, 'unproven', unproven]])
  })

  it('say nothing of votes that may have expired, and miss those that must be there', () => {
    expect(faults(whole, { from: 3 })).toEqual([])
    expect(faults(whole, { from: 3, areTasksWhole: true })).toEqual([
      [4, 'wrong', expect.stringContaining('2 people')],
    ])
    const more = [
      of('DEAD_LETTERED', { handoffId: TASK }),
      of('HANDOFF_RELEASED', { handoffId: TASK, release: TASK }),
    ]
    expect(faults([...whole, ...more], { from: 3 })).toEqual([
      [8, 'wrong', expect.stringContaining('and 0 voted')],
    ])
  })

  it('are wrong, and break nothing, in any other form', () => {
    const body = bodiesOf([anna])[0] as RecordBody
    const odd = (signed: unknown) =>
      ({ ...body, act: { ...body.act, signed } }) as unknown as RecordBody
    const judge = createDecisionJudge({
      people: parsePeople(entriesOf().join()),
      isWhole: () => true,
    })
    const forms = [
      null,
      7,
      [],
      { ...body.act?.signed, keyId: 7 },
      { ...body.act?.signed, signature: 'AA==' },
    ]
    const kinds = forms.flatMap((form) => judge.next(odd(form)).findings).map(({ kind }) => kind)
    expect(kinds).toEqual(Array(5).fill('wrong'))
    const other = { ...body, event: '__proto__' } as unknown as RecordBody
    expect(judge.next(other)).toEqual({ decision: undefined, findings: [] })
  })
})
