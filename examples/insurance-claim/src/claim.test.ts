// The rules of the example, by hand: what is paid, refused, or shown to a person.
import { expect, it } from 'vitest'
import { SAMPLE_CLAIM } from './claim-request.ts'
import { assessDamage, checkCoverage, checkFraud, decide } from './claim.ts'
import type { Claim } from './claim.ts'

const decided = (claim: Claim) =>
  decide({ coverage: checkCoverage(claim), fraud: checkFraud(claim), damage: assessDamage(claim) })

it('pays the damage at list prices after the deductible', () => {
  // 870 + 640 + 800 of 990 + 1,150, less 500.
  expect(decided(SAMPLE_CLAIM)).toMatchObject({ decision: 'pay', amount: 2_960 })
})

it('refuses what the policy does not cover', () => {
  const loss = { ...SAMPLE_CLAIM.loss, kind: 'flood' }
  expect(decided({ ...SAMPLE_CLAIM, loss })).toMatchObject({ decision: 'refuse', amount: 0 })
})

it('asks a person where signs speak against it', () => {
  const policy = { ...SAMPLE_CLAIM.policy, from: '2026-10-01' }
  const loss = { ...SAMPLE_CLAIM.loss, reportedOn: '2026-11-20' }
  expect(decided({ ...SAMPLE_CLAIM, policy, loss })).toMatchObject({ decision: 'ask a person' })
})
