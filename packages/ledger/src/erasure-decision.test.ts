// An erasure is signed by two people; a plan by a key that ended long ago is confirmed no more, and what was confirmed is carried to its end.
import { expect, it } from 'vitest'
import { actOf, entriesOf } from '../fixtures/deciders.ts'
import { erasureFault } from './erasure-decision.ts'
import { parsePeople } from './people.ts'

const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3399'
const at = new Date('2026-01-31T12:00:00.000Z')
const signedBy = (event: 'ERASURE_REQUESTED' | 'ERASURE_COMPLETED', name: 'carol' | 'dora') =>
  actOf({ event, taskId: id, handoffId: id }, name, { at }).signed ?? null
const erasure = {
  id,
  requestedBy: 'carol',
  requestedSigned: signedBy('ERASURE_REQUESTED', 'carol'),
  confirmedBy: 'dora',
  confirmedSigned: signedBy('ERASURE_COMPLETED', 'dora'),
}
const people = parsePeople([...entriesOf(['carol'], '2026-02-01'), ...entriesOf(['dora'])].join())

it('counts a plan for a week after the end of its key', () => {
  const confirmedAt = (time: string) => erasureFault(erasure, people, Date.parse(time))
  expect(confirmedAt('2026-02-07T23:59:59.999Z')).toBeUndefined()
  expect(confirmedAt('2026-02-08T00:00:00.000Z')).toBe('expired_key')
})

it('carries on what was confirmed, whenever that is, and nothing of one person', () => {
  expect(erasureFault(erasure, people)).toBeUndefined()
  expect(erasureFault({ ...erasure, confirmedBy: 'carol' }, people)).toBe('other_person')
  expect(erasureFault({ ...erasure, confirmedSigned: null }, people)).toBe('unsigned')
})
