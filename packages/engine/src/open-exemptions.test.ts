// A file of exemptions: read only where every entry is narrow, ends within 30 days and is signed by people who count; held by the
// database's time, for who has not sent the handoff, and past a rule that rejects alone only with two people.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parsePeople, personEntry, readDecisionSigner, signExemption } from '@baton/ledger'
import { exempting, exemptionsOfPair, heldExemptions } from './decide/exemptions.ts'
import { exemptionFacts, openExemptions, termsOf } from './open-exemptions.ts'
import type { ExemptionEntry } from './open-exemptions.ts'

const NOW = new Date('2026-11-20T10:00:00.000Z')
const SIGNERS = Object.fromEntries(
  ['ann', 'bob', 'ended'].map((name) => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
    return [name, readDecisionSigner(der)]
  }),
)
const signerOf = (name: string) => {
  const signer = SIGNERS[name]
  if (signer === undefined) throw new Error(`nobody is called ${name}`)
  return signer
}
const people = parsePeople(
  ['ann', 'bob', 'ended']
    .map((name) => personEntry(name, ['reviewer'], signerOf(name).publicKey))
    .map((entry) => (entry.startsWith('ended') ? `${entry}:2026-11-21` : entry))
    .join(','),
)

const ENTRY: ExemptionEntry = {
  from: 'intake',
  to: 'reader',
  rule: 'persona',
  pointer: '/currentState/log',
  below: false,
  until: '2026-12-01T00:00:00.000Z',
  reason: 'game scripts are data here',
  signatures: [],
}

function entryOf(
  changes: Partial<ExemptionEntry> = {},
  signers: readonly string[] = ['ann'],
  now = NOW,
): ExemptionEntry {
  const entry = { ...ENTRY, ...changes }
  const signatures = signers.map((name) =>
    signExemption(termsOf(entry), name, { signer: signerOf(name), now }),
  )
  return { ...entry, signatures: [...entry.signatures, ...signatures] }
}

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-exemptions-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function open(...exemptions: readonly unknown[]) {
  const path = join(folder, `${crypto.randomUUID()}.json`)
  writeFileSync(path, JSON.stringify({ exemptions }))
  return openExemptions(path, people)
}

describe('a file of exemptions', () => {
  it('is read with who signed, and told of without its reason', () => {
    const [exemption] = open(entryOf({}, ['ann', 'bob']))
    expect(exemption).toMatchObject({
      rule: 'persona',
      tenant: null,
      signed: [{ person: 'ann' }, { person: 'bob' }],
    })
    const sha256 = 'ab'.repeat(32)
    const [set, fact] = exemptionFacts(exemption === undefined ? [] : [exemption], sha256)
    expect(set).toEqual({ code: 'EXEMPTIONS', value: '1', sha256 })
    const by = ['ann', 'bob'].map((name) => `${name}(${signerOf(name).keyId})`).join('+')
    const signed = `${exemption?.id}:2026-12-01T00:00:00.000Z:${by}`
    const value = `${signed}:intake>reader:persona:/currentState/log:-`
    expect(fact).toEqual({ code: 'EXEMPTION', value, sha256: null })
    expect(openExemptions(undefined, people)).toEqual([])
  })

  it('is told of by name, end and signatures where its terms are too long for a record', () => {
    const pointer = `/currentState/${'a'.repeat(250)}`
    const exemptions = open(entryOf({ pointer }))
    const [, fact] = exemptionFacts(exemptions, 'ab'.repeat(32))
    const signed = `ann(${signerOf('ann').keyId})`
    expect(fact?.value).toBe(`${exemptions[0]?.id}:2026-12-01T00:00:00.000Z:${signed}`)
  })

  it('fits into one record, however many there are', () => {
    const entries = Array.from({ length: 32 }, (_, index) =>
      entryOf({ pointer: `/currentState/${index}` }),
    )
    expect(exemptionFacts(open(...entries), 'ab'.repeat(32))).toHaveLength(33)
  })

  it.each<[string, unknown, string]>([
    ['without a signature', entryOf({}, []), '/exemptions/0/signatures: nobody has signed it'],
    [
      'signed for other terms',
      { ...entryOf(), pointer: '/currentState/all' },
      '/signatures/0: it does not count (signature)',
    ],
    [
      'signed by a stranger',
      {
        ...entryOf(),
        signatures: [`${'0'.repeat(16)} 2026-11-20T10:00:00.000Z ${'A'.repeat(86)}==`],
      },
      '(unknown_key)',
    ],
    ['signed by what is no signature', { ...entryOf(), signatures: ['ann'] }, '(signature)'],
    [
      'that holds for more than 30 days',
      entryOf({ until: '2026-12-20T10:00:00.001Z' }),
      'more than 30 days',
    ],
    ['for the whole message', entryOf({ pointer: '' }), '/exemptions/0/pointer'],
    [
      'for a place that is no pointer',
      entryOf({ pointer: 'currentState' }),
      '/exemptions/0/pointer',
    ],
    ['from the model', entryOf({ rule: 'model' }), '/exemptions/0/rule'],
    ['from what was not read', entryOf({ rule: 'SCAN_INCOMPLETE' }), '/exemptions/0/rule'],
    ['for no end', { ...entryOf(), until: undefined }, '/exemptions/0/until'],
    ['without a reason', entryOf({ reason: '' }), '/exemptions/0/reason'],
    ['of two lines', entryOf({ reason: 'one\ntwo' }), '/exemptions/0/reason'],
    ['with another member', { ...entryOf(), all: true }, '/exemptions/0/all'],
  ])('keeps a process from starting with one %s', (_, entry, problem) => {
    expect(() => open(entry)).toThrow(expect.objectContaining({ code: 'BATON_EXEMPTIONS_INVALID' }))
    expect(() => open(entry)).toThrow(problem)
  })

  it('keeps a process from starting with the same one twice, or none that can be read', () => {
    expect(() => open(entryOf(), entryOf({}, ['bob']))).toThrow('it stands there twice')
    expect(() => openExemptions(join(folder, 'none'), people)).toThrow('cannot be read (ENOENT)')
    expect(() => openExemptions('/dev/null', people)).toThrow('is no regular file')
  })

  it('may hold for thirty days', () => {
    expect(open(entryOf({ until: '2026-12-20T10:00:00.000Z' }))).toHaveLength(1)
  })
})

const claimed = { fromAgent: 'intake', tenant: 'acme', sentBy: 'carl', earlierSenders: [] }

describe('an exemption is for', () => {
  const pair = (changes: Partial<ExemptionEntry>, other: object = {}, type = 'reader') =>
    exemptionsOfPair(open(entryOf(changes)), { ...claimed, ...other }, type).length

  it('one pair of agents, and one tenant where it names one', () => {
    expect(pair({})).toBe(1)
    expect(pair({}, { fromAgent: 'other' })).toBe(0)
    expect(pair({}, {}, 'other')).toBe(0)
    expect(pair({ tenant: 'acme' })).toBe(1)
    expect(pair({ tenant: 'acme' }, { tenant: 'default' })).toBe(0)
  })

  const held = (signers: readonly string[], at: Date = NOW, other: object = {}) =>
    heldExemptions(open(entryOf({}, signers)), { ...claimed, ...other }, { people, now: at })

  it('until its end, and not a moment longer', () => {
    expect(held(['ann'], new Date('2026-11-30T23:59:59.999Z'))).toHaveLength(1)
    expect(held(['ann'], new Date('2026-12-01T00:00:00.000Z'))).toEqual([])
  })

  it('nobody before it was signed, nor by who sent it, nor by a key that ended long ago', () => {
    expect(held(['ann'], new Date('2026-11-20T09:00:00.000Z'))).toEqual([])
    expect(held(['ann'], NOW, { sentBy: 'ann' })).toEqual([])
    expect(held(['ann'], NOW, { earlierSenders: ['ann'] })).toEqual([])
    expect(held(['ann', 'bob'], NOW, { sentBy: 'ann' })).toMatchObject([{ people: 1 }])
    expect(held(['ended'])).toHaveLength(1)
    expect(held(['ended'], new Date('2026-11-29T00:00:00.000Z'))).toEqual([])
  })

  it('one rule and one place, and past a rule that rejects alone only with two different people', () => {
    const of = (signers: readonly string[], found: object = {}) =>
      exempting(held(signers))?.({
        ruleId: 'persona',
        jsonPointer: '/currentState/log',
        effect: 'suspect',
        ...found,
      })
    expect(of(['ann'])).toMatch(/^[0-9a-f-]{36}$/)
    expect(of(['ann'], { ruleId: 'leak' })).toBeUndefined()
    expect(of(['ann'], { jsonPointer: '/currentState/log/0' })).toBeUndefined()
    expect(of(['ann'], { jsonPointer: '/currentState' })).toBeUndefined()
    expect(of(['ann'], { effect: 'reject' })).toBeUndefined()
    expect(of(['ann', 'ann'], { effect: 'reject' })).toBeUndefined()
    expect(of(['ann', 'bob'], { effect: 'reject' })).toMatch(/^[0-9a-f-]{36}$/)
    expect(exempting([])).toBeUndefined()
  })

  it('everything below its place, where it says so, and nothing that only begins like it', () => {
    const holding = heldExemptions(open(entryOf({ below: true })), claimed, { people, now: NOW })
    const at = (jsonPointer: string) =>
      exempting(holding)?.({ ruleId: 'persona', jsonPointer, effect: 'suspect' }) !== undefined
    expect(at('/currentState/log')).toBe(true)
    expect(at('/currentState/log/3/text')).toBe(true)
    expect(at('/currentState/logs')).toBe(false)
  })
})
