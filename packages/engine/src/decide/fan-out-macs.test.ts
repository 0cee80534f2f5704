// What a join is built from counts only as a process with a signing key stored it, also after that key has been rotated.
import { createHmac } from 'node:crypto'
import { createKeyRing, signHandoff } from '@baton/protocol'
import type { KeyRing, KeyStatus } from '@baton/protocol'
import type { NewFanOut, ReadyFanOut } from '@baton/store'
import { describe, expect, it } from 'vitest'
import { messageOf, sampleHandoff } from '../../fixtures/sample-delivery.ts'
import { authentic, resultMac, withMac } from './fan-out-macs.ts'

const key = (id: string, status: KeyStatus) => ({ id, status, secret: Buffer.alloc(32, id) })
const OLD = createKeyRing({ active: 'old', keys: [key('old', 'active')] })
const rotated = (status: KeyStatus) =>
  createKeyRing({ active: 'new', keys: [key('new', 'active'), key('old', status)] })

const ASKED: Omit<NewFanOut, 'mac'> = {
  fanOutId: 'f',
  taskId: 't',
  handoffId: 'h',
  branchId: null,
  onFailure: 'wait',
  joinAfter: 2,
  joinRequest: '{}',
  budgetMicroUSD: 100,
  spentMicroUSD: 10,
  reservedMicroUSD: 5,
  branches: [
    { branchId: 'b1', name: 'a', budgetMicroUSD: 50 },
    { branchId: 'b2', name: 'lone \ud800', budgetMicroUSD: 50 },
  ],
  bounds: { depthMax: 2, openMax: 4 },
}

const SAMPLE = messageOf(sampleHandoff())

function signedBody(handoffId: string, keyRing: KeyRing) {
  const { bytes, keyId, signature } = signHandoff({ ...SAMPLE, taskId: 't', handoffId }, keyRing)
  return { body: Buffer.from(bytes), keyId, signature }
}

/** As it is read again, when all of it was stored by a process with this key ring: Postgres has no lone surrogates. */
function stored(keyRing: KeyRing): ReadyFanOut {
  const branches = ASKED.branches.map(({ branchId, name }, position) => {
    const ended = { taskId: 't', branchId, handoffId: `last-${branchId}`, result: `"of ${name}"` }
    const rest = { position, outcome: 'COMPLETED', reason: null, spentMicroUSD: 20, named: null }
    const body = signedBody(ended.handoffId, keyRing)
    const mac = resultMac(ended, keyRing)
    return { ...ended, ...rest, ...body, name: name.toWellFormed(), mac }
  })
  return { ...withMac(ASKED, keyRing), branches, sentBy: null, within: [] }
}

const isAuthentic = (fanOut: ReadyFanOut, keyRing: KeyRing) =>
  authentic(fanOut, keyRing) !== undefined

const [FIRST, SECOND] = stored(OLD).branches as [
  ReadyFanOut['branches'][number],
  ReadyFanOut['branches'][number],
]
const UNSIGNED = { outcome: 'FAILED', result: null, mac: null, signature: 'none' }

describe('what a join is built from', () => {
  it('counts as it was stored, with the key of then as long as it is believed', () => {
    expect(isAuthentic(stored(OLD), OLD)).toBe(true)
    expect(isAuthentic(stored(OLD), rotated('verify-only'))).toBe(true)
    expect(isAuthentic(stored(OLD), rotated('revoked'))).toBe(false)
  })

  it.each([
    { joinRequest: '{"a":1}' },
    { onFailure: 'skip' as const },
    { joinAfter: 1 },
    { handoffId: 'other' },
    { budgetMicroUSD: 101 },
    { mac: null },
    { mac: createHmac('sha256', Buffer.alloc(32, 'old')).update('["fan-out"]').digest('hex') },
    { branches: [SECOND] },
    { branches: [SECOND, FIRST] },
    { branches: [{ ...FIRST, ...signedBody('last-b2', OLD) }, SECOND] },
    { branches: [{ ...FIRST, body: Buffer.from('{}') }, SECOND] },
    { branches: [{ ...FIRST, body: null }, SECOND] },
    { within: [{ ...FIRST, signature: 'none' }] },
  ])('does not count with other content: %o', (change) => {
    expect(isAuthentic({ ...stored(OLD), ...change }, OLD)).toBe(false)
  })

  it('has nothing of a message that nobody signed, where its branch failed', () => {
    const failed = { ...FIRST, ...UNSIGNED }
    const joined = authentic({ ...stored(OLD), branches: [failed, SECOND], within: [failed] }, OLD)
    expect(joined?.branches).toEqual([{ ...failed, body: null }, SECOND])
    expect(joined?.within).toEqual([{ ...failed, body: null }])
  })
})
