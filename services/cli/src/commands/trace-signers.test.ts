// What a trace says of decisions that nobody is known to have signed.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import {
  actIdOf,
  erasureRequest,
  parsePeople,
  personEntry,
  readDecisionSigner,
  recorded,
  signDecision,
} from '@baton/ledger'
import { expect, it } from 'vitest'
import { signerLine, unprovenDecisions } from './trace-signers.ts'

function personCalled(name: string) {
  const { privateKey } = generateKeyPairSync('ed25519')
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const signer = readDecisionSigner(secret)
  const entry = personEntry(name, ['compliance'], signer.publicKey)
  const until = (day: string) => parsePeople(`${entry}:${day}`)
  return { signer, people: parsePeople(entry), until }
}

const id = randomUUID()
const SIGNED_AT = new Date('2026-01-20T12:00:00.000Z')
const ann = personCalled('ann')
const mallory = personCalled('ann')

/** The record of an erasure that somebody who is called ann asked for. */
function asked({ signer }: typeof ann, event: 'ERASURE_REQUESTED' | 'ERASURE_DEFERRED') {
  const decision = erasureRequest({ id, subject: 'somebody', basis: 'GDPR_ART_17_1' }, 'ann')
  const signed = recorded(signDecision(decision, signer, SIGNED_AT))
  const act = { id: actIdOf(signed), actor: 'ann', signed }
  return { event, taskId: id, handoffId: id, act, recordedAt: '2026-01-31T12:00:00.000000Z' }
}

it('names nothing that a person signed who is known, also where a hold deferred it', () => {
  const told = [asked(ann, 'ERASURE_REQUESTED'), asked(ann, 'ERASURE_DEFERRED')]
  expect(unprovenDecisions(told, ann.people)).toEqual([])
  expect(unprovenDecisions(told, new Map())).toEqual([])
})

it('names what nobody signed, what a stranger signed, and what is said of another erasure', () => {
  const { act, ...record } = asked(ann, 'ERASURE_REQUESTED')
  const told = [
    { ...record, act: { id, actor: 'ann' } },
    asked(mallory, 'ERASURE_REQUESTED'),
    { ...record, taskId: randomUUID(), act },
    { ...record, act: { ...act, actor: 'bob' } },
  ]
  const found = unprovenDecisions(told, ann.people)
  expect(found.map(({ fault }) => fault)).toEqual([
    'unsigned',
    'unknown_key',
    'signature',
    'other_person',
  ])
  expect(found.map(signerLine)).toEqual([
    expect.stringContaining('by ann: not signed'),
    expect.stringContaining('by ann: signed by a key that nobody here knows'),
    expect.stringContaining('none of theirs'),
    expect.stringContaining('by bob: its signature is none of theirs'),
  ])
})

it('believes no time of signing where the key had ended a week before it was recorded', () => {
  const told = [asked(ann, 'ERASURE_REQUESTED')]
  expect(unprovenDecisions(told, ann.until('2026-01-25'))).toEqual([])
  expect(unprovenDecisions(told, ann.until('2026-01-24'))).toEqual([
    expect.objectContaining({ fault: 'expired_key' }),
  ])
})
