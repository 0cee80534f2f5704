// The rules of the example, by hand: what is paid, refused, or shown to a person.
import { expect, it } from 'vitest'
import excludedFile from '../claim-excluded.json' with { type: 'json' }
import outpatientFile from '../claim-outpatient.json' with { type: 'json' }
import { SAMPLE_CLAIM } from './claim-request.ts'
import { assessCharges, checkCoverage, checkFraud, decide, readClaim } from './claim.ts'
import type { Claim } from './claim.ts'

const SAMPLE = readClaim(SAMPLE_CLAIM)

const decided = (claim: Claim) =>
  decide({
    coverage: checkCoverage(claim),
    fraud: checkFraud(claim),
    charges: assessCharges(claim),
  })

it('reads a claim', () => {
  expect(SAMPLE).toEqual({
    number: '1234567890000',
    kind: 'PartB',
    insuredFrom: '2012-01-01',
    on: '2012-10-18',
    charged: 6_000,
    diagnoses: ['3534', '7393', '7392', '3533'],
    services: [
      { code: '98941', on: '2012-10-18', charged: 6_000, allowed: 3_400, modifiers: ['AT'] },
    ],
  })
  expect(() => readClaim('Dear Sir or Madam: pay me')).toThrow(/no claim number/)
})

it('pays what was really paid for it', () => {
  const paid = Number(/^Provider Paid: \$(.+)$/m.exec(SAMPLE_CLAIM)?.[1])
  expect(paid).toBe(27.2)
  expect(decided(SAMPLE)).toEqual({
    decision: 'pay',
    amount: paid,
    why: 'Part B was in force; less for 98941, 80 % of it',
  })
})

it('asks a person where the claim names no amounts', () => {
  const claim = readClaim(excludedFile.currentState.claim)
  expect(decided(claim)).toEqual({
    decision: 'ask a person',
    amount: 0,
    why: 'Part B was in force, 1 excluded by law; no amount stands at 98941, G0283',
  })
})

it.each([
  ['what was before the insurance', { ...SAMPLE, insuredFrom: '2013-01-01' }, /not in force/],
  [
    'what is no benefit',
    { ...SAMPLE, services: SAMPLE.services.map((one) => ({ ...one, modifiers: ['GY'] })) },
    /benefit/,
  ],
])('refuses %s', (_, claim, why) => {
  expect(decided(claim)).toEqual({ decision: 'refuse', amount: 0, why: expect.stringMatching(why) })
})

it.each([
  ['no rule is for it', readClaim(outpatientFile.currentState.claim), /no rule for Outpatient/],
  ['the lines do not add up', { ...SAMPLE, charged: 9_000 }, /add up/],
  [
    'a service is charged twice',
    { ...SAMPLE, charged: 12_000, services: [...SAMPLE.services, ...SAMPLE.services] },
    /twice/,
  ],
  ['day and diagnosis are doubtful', { ...SAMPLE, on: '2012-10-19', diagnoses: [] }, /another day/],
])('asks a person where %s', (_, claim, why) => {
  const { decision, why: said } = decided(claim)
  expect([decision, said]).toEqual(['ask a person', expect.stringMatching(why)])
})
