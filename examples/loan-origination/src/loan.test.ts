// The rules of the example, by hand: what is approved, refused, or shown to a person.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  countIncome,
  decideLoan,
  judgeAffordability,
  judgeHistory,
  missingIn,
  readTerms,
  sumObligations,
} from './loan.ts'
import type { Application, Terms } from './loan.ts'

const { currentState } = JSON.parse(
  readFileSync(new URL('../application.json', import.meta.url), 'utf8'),
) as { currentState: { application: Application } }
const SAMPLE = currentState.application

const TERMS = readTerms(SAMPLE.agreement) as Terms

const decided = (application: Application, terms = TERMS) => {
  const income = countIncome(application)
  const affordability = judgeAffordability(terms, income, sumObligations(application))
  return decideLoan({ income, affordability, history: judgeHistory(application) })
}

it('reads the terms in the words of the agreement', () => {
  expect(TERMS).toEqual({
    amount: 9_500,
    leastPayment: 500,
    firstMonth: 3,
    lastMonth: 24,
    monthlyRate: 0.015,
  })
  expect(readTerms('I owe you E9500.')).toMatchObject({
    unread: ['amount', 'leastPayment', 'firstMonth', 'lastMonth', 'monthlyRate'],
  })
})

it('approves what can be paid', () => {
  // 9,500 with two months of interest is 9,787; 22 payments at 1.5 % a month: 525.6; with 410 + 230 + 520 it is 1,686 of 7,200.
  expect(decided(SAMPLE)).toEqual({
    decision: 'approve',
    payment: 526,
    reasons: ['payments are 24 % of what is earned'],
  })
})

it('pays a loan without interest in equal parts, and never less than agreed', () => {
  const free = { ...TERMS, amount: 24_000, firstMonth: 1, monthlyRate: 0 }
  expect(decided(SAMPLE, free)).toMatchObject({ payment: 1_000 })
  expect(decided(SAMPLE, { ...free, amount: 2_400 })).toMatchObject({ payment: 500 })
})

it.each([
  ['what is too much', { income: { stated: 3_900, documented: 3_900 } }, /44 %/],
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
