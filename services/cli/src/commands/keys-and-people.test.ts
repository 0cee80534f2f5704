// A key and a signing key of one person of a tenant are asked for in words that work, and what does not is named.
import { expect, it } from 'vitest'
import type { Context } from '../context.ts'
import { keysNew } from './keys.ts'
import { makePersonKey } from './people.ts'

function listening() {
  const steps: string[] = []
  const output = {
    json: false,
    data: () => undefined,
    words: () => undefined,
    next: (step: string) => steps.push(step),
  }
  return { steps, context: { output } as unknown as Context }
}

it('names the operator of a tenant’s key without its tenant', () => {
  const { steps, context } = listening()
  makePersonKey(context, { person: 'acme/ann', roles: ['reviewer'] })
  makePersonKey(context, { person: 'ann', roles: ['reviewer'] })
  expect(steps[0]).toContain('--operator ann --tenant acme,')
  expect(steps[1]).toContain('--operator ann,')
})

it.each([
  [{ operator: 'acme/ann' }, '--operator names a tenant'],
  [{ operator: 'ännn' }, '--operator has other characters than a name may have'],
  [{ operator: 'ann', expires: '27.11.2026' }, '--expires is no day'],
  [{ operator: 'ann', expires: '2027-02-30' }, '--expires is no day'],
  [{ operator: 'ann', expires: '2020-01-01' }, '--expires has come already'],
])('says of %j what is wrong with it', async (wish, message) => {
  const asked = { scopes: 'handoffs:read', role: [], agent: [], ...wish }
  await expect(keysNew(listening().context, asked)).rejects.toMatchObject({
    code: 'BATON_USAGE',
    message,
  })
})

it.each(['ann b', 'ännn', '-ann', 'acme/'])('makes no signing key for the name %j', (person) => {
  expect(() => makePersonKey(listening().context, { person, roles: ['reviewer'] })).toThrow(
    'the name has other characters than a name may have',
  )
})
