// Every installed licence passes all hops of the review; what must be stopped is stopped.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS, microUSD } from '@baton/protocol'
import { agents, collectLicences, failingReview, plantedInjection, reviewRequest } from './index.ts'
import type { LicenceText } from './index.ts'
import { runReview, TRACEPARENT } from '../fixtures/run-review.ts'
import type { Hop } from '../fixtures/run-review.ts'
import { MIT } from '../fixtures/samples.ts'

const ROOT = join(import.meta.dirname, '../../..')
const BUDGET = { budgetUSD: 0.25, traceparent: TRACEPARENT }

const review = (text: LicenceText) =>
  runReview(reviewRequest(text.text, { ...BUDGET, name: `${text.package}@${text.version}` }))

/** Names and contacts of a message that stand anywhere but in its personal data. */
function leaksOf({ message }: Hop): readonly string[] {
  const { personalDataPayload = {}, ...rest } = message
  const body = JSON.stringify(rest).toLowerCase()
  const values = Object.values(personalDataPayload).flatMap(
    (entry) => (entry as { value: string[] }).value,
  )
  return values.filter((value) => {
    const at = body.indexOf(value.toLowerCase())
    if (at < 0) return false
    const around = [body[at - 1], body[at + value.length]].join('')
    return !/[\p{L}\p{N}]/u.test(around)
  })
}

describe('the contract review', () => {
  it(
    'brings every installed licence through three accepted handoffs',
    { timeout: 60_000 },
    async () => {
      const texts = await collectLicences(ROOT)
      expect(texts.length).toBeGreaterThanOrEqual(100)
      let withPeople = 0
      for (const text of texts) {
        const hops = await review(text)
        expect(
          hops.map(({ message, verdict }) => [
            message.fromAgent.agentId,
            message.toAgent.agentType,
            verdict.valid,
          ]),
        ).toEqual([
          ['intake', 'clause-extraction', true],
          ['clause-extraction', 'legal-analysis', true],
          ['legal-analysis', 'risk-scoring', true],
        ])
        expect(hops.map(({ verdict }) => verdict.checks.scan?.decision)).not.toContain('reject')
        expect(hops.flatMap(leaksOf)).toEqual([])
        expect(Math.max(...hops.map(({ bytes }) => bytes))).toBeLessThan(
          DEFAULT_LIMITS.bytesMax / 2,
        )
        expect(hops.at(-1)?.result?.result).toMatchObject({
          licence: `${text.package}@${text.version}`,
        })
        if (hops[0]?.message.dataSubjects !== undefined) withPeople += 1
      }
      expect(withPeople).toBeGreaterThan(texts.length / 2)
    },
  )

  it('carries the budget on and gives the same findings each time', async () => {
    const request = () => runReview(reviewRequest(MIT, { ...BUDGET, name: 'sample@1.0.0' }))
    const [first, second] = [await request(), await request()]
    expect(second.at(-1)?.result?.result).toEqual(first.at(-1)?.result?.result)
    for (const { message } of first) {
      const { costSpentSoFarUSD, costBudgetRemainingUSD } = message.costTracking
      expect(microUSD(costSpentSoFarUSD) + microUSD(costBudgetRemainingUSD)).toBe(250_000)
      expect(message.personalDataPayload).toEqual(first[0]?.message.personalDataPayload)
    }
    const spent = first.map(({ message }) => message.costTracking.costSpentSoFarUSD)
    expect(spent).toEqual(spent.toSorted((a, b) => a - b))
  })

  it('is stopped by a planted injection, for safety', async () => {
    const hops = await review(plantedInjection())
    expect(hops).toHaveLength(1)
    expect(hops[0]?.verdict).toMatchObject({ valid: false, reason: 'SAFETY_VIOLATION' })
  })

  it('has a review that is accepted and then always fails', async () => {
    await expect(runReview(failingReview(BUDGET))).rejects.toMatchObject({
      kind: 'transient',
      code: 'BATON_REVIEW_UNAVAILABLE',
    })
  })

  it('is not executed without budget', async () => {
    const [hop] = await runReview(
      reviewRequest(MIT, { ...BUDGET, budgetUSD: 0.000001, name: 'sample@1.0.0' }),
    )
    expect(hop?.verdict).toMatchObject({ valid: false, reason: 'BUDGET_EXHAUSTED' })
  })

  it('refuses a state that is not of the review, naming the key', async () => {
    const extraction = agents.find(({ type }) => type === 'clause-extraction')
    const request = reviewRequest(MIT, { ...BUDGET, name: 'sample@1.0.0' })
    const state = { ...request.agentState.currentState, sections: 'all of it' }
    await expect(
      runReview({ ...request, agentState: { ...request.agentState, currentState: state } }),
    ).rejects.toMatchObject({
      code: 'BATON_REVIEW_STATE_INVALID',
      message: expect.stringContaining('sections'),
    })
    expect(extraction?.requires).toContain('sections')
  })
})
