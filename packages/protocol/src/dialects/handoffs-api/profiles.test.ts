// The file of profiles is read strictly, and whom a profile takes messages from is decided by it.
import { describe, expect, it } from 'vitest'
import { decidePolicy, readProfiles } from './profiles.ts'

const read = (file: unknown) =>
  readProfiles(Buffer.from(typeof file === 'string' ? file : JSON.stringify(file)))
const problemOf = (file: unknown) => {
  const answer = read(file)
  return answer.ok ? '' : answer.problem
}
const profile = (changes: object = {}) => ({ profiles: [{ id: 'a', ...changes }, { id: 'b' }] })

describe('the file of profiles', () => {
  it('names agent types, by default those of the same name', () => {
    const answer = read({ profiles: [{ id: 'a', agentType: 'x', blockFrom: ['b'] }, { id: 'b' }] })
    expect(answer.ok && [...answer.profiles.values()]).toEqual([
      { id: 'a', agentType: 'x', blockFrom: ['b'] },
      { id: 'b', agentType: 'b' },
    ])
  })

  it.each([
    ['{\n  "profiles": [\n    { "id": "a" },\n  ]\n}', /line 4, column 3/],
    ['{"profiles":[', /line 1, column 14/],
    ['{"profiles":[{"id":"a","id":"b"}]}', /^at \/profiles\/0\/id: /],
    [[], /^at \/: expected an object/],
    [{ profile: [] }, /^at \/profile: there is no such member/],
    [{ profiles: {} }, /^at \/profiles: expected a list/],
    [{ profiles: ['a'] }, /^at \/profiles\/0: expected an object/],
    [profile({ block: [] }), /^at \/profiles\/0\/block: there is no such member/],
    [profile({ id: ' a' }), /^at \/profiles\/0\/id: expected a name/],
    [profile({ id: '*' }), /^at \/profiles\/0\/id: expected a name/],
    [profile({ id: 'b' }), /^at \/profiles\/1\/id: another profile has this id/],
    [profile({ agentType: '' }), /^at \/profiles\/0\/agentType: expected the name/],
    [profile({ acceptFrom: 'b' }), /^at \/profiles\/0\/acceptFrom: expected a list/],
    [profile({ acceptFrom: ['b', 7] }), /^at \/profiles\/0\/acceptFrom: expected a list/],
    [
      profile({ requireApprovalFrom: ['b', 'c'] }),
      /^at \/profiles\/0\/requireApprovalFrom\/1: no profile/,
    ],
  ])('is refused where it is wrong: %j', (file, problem) => {
    expect(problemOf(file)).toMatch(problem)
  })
})

describe('a policy', () => {
  const from = (policies: object) => {
    const decided = decidePolicy('b', { id: 'a', agentType: 'a', ...policies })
    return decided.ok ? decided.value.requiresApproval : decided.refusal.code
  }
  it.each([
    [{}, false],
    [{ acceptFrom: ['b'] }, false],
    [{ acceptFrom: ['*'] }, false],
    [{ acceptFrom: [] }, 'BATON_PROFILE_POLICY'],
    [{ acceptFrom: ['c'] }, 'BATON_PROFILE_POLICY'],
    [{ blockFrom: ['b'] }, 'BATON_PROFILE_POLICY'],
    [{ acceptFrom: ['b'], blockFrom: ['*'] }, 'BATON_PROFILE_POLICY'],
    [{ blockFrom: ['c'] }, false],
    [{ requireApprovalFrom: ['b'] }, true],
    [{ requireApprovalFrom: ['c'] }, false],
    [{ acceptFrom: ['b'], requireApprovalFrom: ['*'] }, true],
  ])('%j decides about b: %s', (policies, decided) => {
    expect(from(policies)).toBe(decided)
  })
})
