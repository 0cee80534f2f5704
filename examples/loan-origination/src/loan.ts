// What a loan application says, and the rules by which it is judged; pure, so that each can be followed by hand.
import type { JsonObject } from '@baton/sdk'

/** Amounts are whole US dollars, of one month where nothing else is said. */
export interface Application {
  /** The agreement that the applicant wants to sign, in its own words. */
  readonly agreement: string
  /** What the applicant says, and what pay slips show. */
  readonly income: { readonly stated: number; readonly documented: number }
  readonly employment: { readonly current: boolean; readonly monthsThere: number }
  /** What is paid already: other loans, alimony, child support. */
  readonly debts: readonly { readonly of: string; readonly payment: number }[]
  /** Taxes and insurance of the house. */
  readonly housingCosts: number
  readonly latePaymentsInTwoYears: number
}

/** What the agreement asks of who signs it. */
export interface Terms {
  /** What is lent: the price less what is paid at once. */
  readonly amount: number
  readonly leastPayment: number
  /** Payments are due from this month on, until the last one. */
  readonly firstMonth: number
  readonly lastMonth: number
  readonly monthlyRate: number
}

export interface Income {
  readonly counted: number
  readonly remarks: readonly string[]
}

export interface Obligations {
  readonly payments: number
  readonly of: readonly string[]
}

export interface Affordability {
  readonly payment: number
  /** All payments as a share of what is earned, in whole percent; null where nothing is earned. */
  readonly debtToIncome: number | null
  readonly isWithin: boolean
}

export interface CreditHistory {
  readonly standing: 'good' | 'mixed' | 'poor'
}

export interface LoanDecision {
  readonly decision: 'approve' | 'refuse' | 'ask a person'
  readonly payment: number
  readonly reasons: readonly string[]
}

const DEBT_TO_INCOME_MAX = 43
const EMPLOYED_MONTHS_MIN = 6
const LATE_GOOD_MAX = 0
const LATE_MIXED_MAX = 2

/** What an application must say before anybody judges it; empty where it is complete. */
export const missingIn = (state: JsonObject): readonly string[] => {
  const application = (state['application'] ?? {}) as JsonObject
  return FIELDS.filter((field) => application[field] === undefined)
}

const FIELDS = [
  'agreement',
  'income',
  'employment',
  'debts',
  'housingCosts',
  'latePaymentsInTwoYears',
]

/** Only what documents show counts, and of a job that is over nothing. */
export function countIncome({ income, employment }: Application): Income {
  if (!employment.current) return { counted: 0, remarks: ['no current employment'] }
  const remarks = [
    ...(income.stated > income.documented ? ['less is documented than stated'] : []),
    ...(employment.monthsThere < EMPLOYED_MONTHS_MIN ? ['a job of a few months'] : []),
  ]
  return { counted: Math.min(income.stated, income.documented), remarks }
}

/** What must be paid each month before this loan. */
export const sumObligations = ({ debts, housingCosts }: Application): Obligations => ({
  payments: debts.reduce((sum, { payment }) => sum + payment, housingCosts),
  of: debts.map(({ of }) => of),
})

const TERMS: Readonly<Record<keyof Terms, RegExp>> = {
  amount: /remaining balance of E(\d+)/,
  leastPayment: /E(\d+) or more per month/,
  firstMonth: /start on month (\d+)/,
  lastMonth: /paid in full on or before (\d+) months/,
  monthlyRate: /rate of (\d+(?:\.\d+)?)%, computed monthly/,
}

/** The terms, or the names of those that the agreement does not state. */
export function readTerms(agreement: string): Terms | { readonly unread: readonly string[] } {
  const read = Object.entries(TERMS).map(([term, pattern]) => {
    const stated = pattern.exec(agreement)?.[1]
    return [term, stated === undefined ? undefined : Number(stated)] as const
  })
  const unread = read.flatMap(([term, value]) => (value === undefined ? [term] : []))
  if (unread.length > 0) return { unread }
  const terms = Object.fromEntries(read) as unknown as Terms
  return { ...terms, monthlyRate: terms.monthlyRate / 100 }
}

/** What must be paid each month so that nothing is left at the end, and whether it can be paid beside everything else. */
export function judgeAffordability(
  terms: Terms,
  income: Income,
  obligations: Obligations,
): Affordability {
  const payment = Math.ceil(Math.max(terms.leastPayment, levelPayment(terms)))
  const { counted } = income
  const share = (100 * (payment + obligations.payments)) / counted
  const debtToIncome = counted === 0 ? null : Math.ceil(share)
  const isWithin = debtToIncome !== null && debtToIncome <= DEBT_TO_INCOME_MAX
  return { payment, debtToIncome, isWithin }
}

/** Interest runs from the first day on, also in the months before payments start. */
function levelPayment({ amount, firstMonth, lastMonth, monthlyRate: rate }: Terms): number {
  const payments = lastMonth - firstMonth + 1
  if (rate === 0) return amount / payments
  const owed = amount * (1 + rate) ** (firstMonth - 1)
  return (owed * rate) / (1 - (1 + rate) ** -payments)
}

export function judgeHistory({ latePaymentsInTwoYears: late }: Application): CreditHistory {
  if (late <= LATE_GOOD_MAX) return { standing: 'good' }
  return { standing: late <= LATE_MIXED_MAX ? 'mixed' : 'poor' }
}

export interface Findings {
  readonly income: Income
  readonly affordability: Affordability
  readonly history: CreditHistory
}

/** Refuses what cannot be paid or was not paid; whatever is not plain goes to a person. */
export function decideLoan({ income, affordability, history }: Findings): LoanDecision {
  const { payment, debtToIncome, isWithin } = affordability
  const share = debtToIncome === null ? 'nothing is earned' : `${debtToIncome} % of what is earned`
  if (!isWithin) return { decision: 'refuse', payment, reasons: [`too much to pay: ${share}`] }
  if (history.standing === 'poor')
    return { decision: 'refuse', payment, reasons: ['payments were late too often'] }
  const doubts = [...income.remarks, ...(history.standing === 'mixed' ? ['late payments'] : [])]
  if (doubts.length > 0) return { decision: 'ask a person', payment, reasons: doubts }
  return { decision: 'approve', payment, reasons: [`payments are ${share}`] }
}
