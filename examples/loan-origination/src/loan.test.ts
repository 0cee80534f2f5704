// The rules of the example, by hand: what is approved, refused, or shown to a person.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  countIncome,
  decideLoan,
  judgeAffordability,
  judgeHistory,
  missingIn,
  sumObligations,
} from './loan.ts'
import type { Application } from './loan.ts'

const { currentState } = JSON.parse(
  readFileSync(new URL('../application.json', import.meta.url), 'utf8'),
) as { currentState: { application: Application } }
const SAMPLE = currentState.application

const decided = (application: Application) => {
  const income = countIncome(application)
  const affordability = judgeAffordability(application, income, sumObligations(application))
  return decideLoan({ income, affordability, history: judgeHistory(application) })
}

it('approves what can be paid', () => {
  // 240,000 over 360 months at 0.5 % a month: 1,438.92; with 410 + 230 + 520 it is 2,599 of 7,200.
  expect(decided(SAMPLE)).toEqual({
    decision: 'approve',
    payment: 1_439,
    reasons: ['payments are 37 % of what is earned'],
  })
})

it('pays a loan without interest in equal parts', () => {
  const loan = { amount: 24_000, years: 2, yearlyRate: 0 }
  expect(decided({ ...SAMPLE, loan })).toMatchObject({ payment: 1_000 })
})

it.each([
  ['what is too much', { income: { stated: 6_000, documented: 6_000 } }, /44 %/],
  ['who earns nothing', { employment: { current: false, monthsThere: 41 } }, /nothing is earned/],
  ['who paid late too often', { latePaymentsInTwoYears: 3 }, /late too often/],
] as const)('refuses %s', (_, changes, why) => {
  const { decision, reasons } = decided({ ...SAMPLE, ...changes })
  expect([decision, reasons.join()]).toEqual(['refuse', expect.stringMatching(why)])
})

it.each([
  ['less is documented', { income: { stated: 9_000, documented: 7_200 } }],
  ['the job is new', { employment: { current: true, monthsThere: 2 } }],
  ['payments were late', { latePaymentsInTwoYears: 1 }],
] as const)('asks a person where %s', (_, changes) => {
  expect(decided({ ...SAMPLE, ...changes })).toMatchObject({ decision: 'ask a person' })
})

it('names what an application lacks', () => {
  const { debts: _, ...rest } = SAMPLE
  expect(missingIn({ application: rest as never })).toEqual(['debts'])
  expect(missingIn({ application: SAMPLE as never })).toEqual([])
})
