// A decision counts where its person signed exactly it, with a key and a role that are believed; everything else names its fault.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  arrivalFault,
  decisionFault,
  digestOf,
  formatNeeded,
  formatSigned,
  parseNeeded,
  parseSigned,
  readDecisionSigner,
  recorded,
  signDecision,
} from './decision.ts'
import type { DecisionSignature } from './decision.ts'
import { parsePeople, personEntry } from './people.ts'
import type { Role } from './people.ts'
import { actIdOf, entryFault } from './recorded-decision.ts'
import type { Decision } from './recorded-decision.ts'

const newKey = () =>
  readDecisionSigner(
    generateKeyPairSync('ed25519')
      .privateKey.export({ format: 'der', type: 'pkcs8' })
      .toString('base64'),
  )
const ann = newKey()
const bob = newKey()
const entry = (name: string, key: typeof ann, roles: readonly Role[] = ['reviewer']) =>
  personEntry(name, roles, key.publicKey)
const people = parsePeople(`${entry('ann', ann)},${entry('bob', bob, ['compliance'])}`)

const NOW = new Date('2026-01-31T12:00:00.000Z')
const NOW_MS = NOW.getTime()
const decision: Decision = {
  event: 'HANDOFF_APPROVED',
  taskId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  handoffId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  person: 'ann',
  decided: digestOf('ab'.repeat(32), null),
}
const signed = signDecision(decision, ann, NOW)

describe('a signed decision', () => {
  it('counts for exactly what was signed', () => {
    expect(decisionFault(decision, signed, people)).toBeUndefined()
  })

  it.each<[string, Partial<Decision>, string]>([
    ['another event', { event: 'APPROVAL_REFUSED' }, 'signature'],
    ['another task', { taskId: '3f2504e0-4f89-41d3-9a0c-0305e82c3302' }, 'signature'],
    ['another handoff', { handoffId: '7c9e6679-7425-40de-944b-e07fc1f90ae8' }, 'signature'],
    ['the whole task', { handoffId: null }, 'signature'],
    ['other bytes', { decided: digestOf('cd'.repeat(32), null) }, 'other_content'],
    ['another person', { person: 'bob' }, 'other_person'],
    ['a role that the person does not have', { event: 'LEGAL_HOLD_SET' }, 'role'],
  ])('does not count for %s', (_, changes, fault) => {
    expect(decisionFault({ ...decision, ...changes }, signed, people)).toBe(fault)
  })

  it.each<[string, Partial<DecisionSignature>, string]>([
    ['another time', { signedAt: '2026-01-31T12:00:00.001Z' }, 'signature'],
    ['another salt', { salt: '00'.repeat(16) }, 'other_content'],
    ['another digest', { content: '5e'.repeat(32) }, 'other_content'],
    ['another signature', { signature: `${'A'.repeat(86)}==` }, 'signature'],
    ['a key of nobody', { keyId: '0123456789abcdef' }, 'unknown_key'],
    ['the key of somebody else', { keyId: bob.keyId }, 'other_person'],
  ])('does not count with %s', (_, changes, fault) => {
    expect(decisionFault(decision, { ...signed, ...changes }, people)).toBe(fault)
  })

  it('is none without a signature, or with somebody else’s key under one’s own name', () => {
    expect(decisionFault(decision, undefined, people)).toBe('unsigned')
    const forged = { ...signDecision(decision, newKey(), NOW), keyId: ann.keyId }
    expect(decisionFault(decision, forged, people)).toBe('signature')
  })

  it('counts until the day on which its key ends', () => {
    const until = (day: string) => parsePeople(`${entry('ann', ann)}:${day}`)
    expect(decisionFault(decision, signed, until('2026-02-01'))).toBeUndefined()
    expect(decisionFault(decision, signed, until('2026-01-31'))).toBe('expired_key')
  })

  it('decides nothing more once its key has ended, whenever it says that it was made', () => {
    const ending = parsePeople(`${entry('ann', ann)}:2026-02-01`)
    expect(decisionFault(decision, signed, ending)).toBeUndefined()
    const arriving = (at: string) => arrivalFault(signed, ending, new Date(at))
    expect(arriving('2026-01-31T12:00:00.000Z')).toBeUndefined()
    expect(arriving('2026-02-01T00:04:59.999Z')).toBeUndefined()
    expect(arriving('2026-02-01T00:05:00.000Z')).toBe('expired_key')
    expect(arriving('2026-01-31T11:54:59.999Z')).toBe('clock')
    expect(arrivalFault(signed, people, new Date('2036-01-31'))).toBeUndefined()
  })

  it('has another salt each time, so that its record tells nothing of what was decided', () => {
    const again = signDecision(decision, ann, NOW)
    expect(again.content).not.toBe(signed.content)
    expect(recorded(signed)).not.toHaveProperty('salt')
  })

  it('comes back from a header as it went, and nothing else does', () => {
    expect(parseSigned(formatSigned(signed))).toEqual(signed)
    expect(parseNeeded(formatNeeded(decision))).toEqual(decision)
    expect(parseNeeded(formatNeeded({ ...decision, handoffId: null }))?.handoffId).toBeNull()
    for (const text of ['', 'x', `${formatSigned(signed)} x`, formatSigned(signed).slice(0, -1)])
      expect(parseSigned(text)).toBeUndefined()
    expect(parseSigned(formatSigned({ ...signed, signedAt: '2026-13-31T12:00:00.000Z' }))).toBe(
      undefined,
    )
    const needed = formatNeeded(decision)
    for (const text of [
      '',
      'HANDOFF_APPROVED a',
      needed.replace('HANDOFF_APPROVED', 'HANDOFF_ACCEPTED'),
      needed.replace(' ann ', ' ann\nann '),
      needed.replace(' ann ', ' '),
      `${needed}\n`,
      `${needed} x`,
    ])
      expect(parseNeeded(text)).toBeUndefined()
  })
})

describe('an entry about a decision', () => {
  const { event, taskId } = decision
  const handoffId = decision.handoffId ?? ''
  const act = { id: actIdOf(signed), actor: 'ann', signed: recorded(signed) }

  it('is what its person signed, and every other event is none', () => {
    expect(entryFault({ event, taskId, handoffId, act }, people, NOW_MS)).toBeUndefined()
    expect(
      entryFault({ event: 'HANDOFF_ACCEPTED', taskId, handoffId }, people, NOW_MS),
    ).toBeUndefined()
  })

  it('counts for a week after the end of its key, whenever it says that it was signed', () => {
    const ending = parsePeople(`${entry('ann', ann)}:2026-02-01`)
    const recorded = (at: string) =>
      entryFault({ event, taskId, handoffId, act }, ending, Date.parse(at))
    expect(recorded('2026-02-07T23:59:59.999Z')).toBeUndefined()
    expect(recorded('2026-02-08T00:00:00.000Z')).toBe('expired_key')
    expect(recorded('no time')).toBe('expired_key')
    expect(entryFault({ event, taskId, handoffId, act }, people, Infinity)).toBeUndefined()
  })

  it.each([
    ['without an act', {}, 'unsigned'],
    ['without a signature', { act: { id: act.id, actor: 'ann' } }, 'unsigned'],
    ['under another id', { act: { ...act, id: taskId } }, 'signature'],
    ['in another’s name', { act: { ...act, actor: 'bob' } }, 'other_person'],
    ['about another handoff', { act, handoffId: taskId }, 'signature'],
    ['in another task', { act, taskId: handoffId }, 'signature'],
    ['about the other decision', { act, event: 'APPROVAL_REFUSED' as const }, 'signature'],
  ])('is refused %s', (_, changes, fault) => {
    expect(entryFault({ event, taskId, handoffId, ...changes }, people, NOW_MS)).toBe(fault)
  })

  it('of a hold is about its task, whatever handoff it stands with', () => {
    const hold: Decision = {
      event: 'LEGAL_HOLD_SET',
      taskId,
      handoffId: null,
      person: 'bob',
      decided: digestOf('COURT_ORDER'),
    }
    const held = signDecision(hold, bob, NOW)
    const by = { id: actIdOf(held), actor: 'bob', signed: recorded(held) }
    expect(
      entryFault({ event: hold.event, taskId, handoffId: by.id, act: by }, people, NOW_MS),
    ).toBe(undefined)
  })
})

describe('parsePeople', () => {
  it('takes several keys of one person, apart by commas or white space', () => {
    const setting = `${entry('ann', ann)}\n ${entry('ann', bob, ['reviewer', 'compliance'])}:2027-01-01`
    expect([...parsePeople(setting).values()].map((key) => [key.person, [...key.roles]])).toEqual([
      ['ann', ['reviewer']],
      ['ann', ['reviewer', 'compliance']],
    ])
    expect(parsePeople('').size).toBe(0)
  })

  it.each([
    ['no key', 'ann:reviewer', 'entry 1 is not person:role+role:publicKey'],
    ['an unknown role', entry('ann', ann).replace('reviewer', 'king'), 'names the role king'],
    ['no date', `${entry('ann', ann)}:2026-13-01`, 'which is not a date'],
    ['one key twice', `${entry('ann', ann)},${entry('bob', ann)}`, 'occurs twice'],
  ])('refuses %s', (_, setting, words) => {
    expect(() => parsePeople(setting)).toThrow(words)
  })
})
