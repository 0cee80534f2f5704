// A caller is pointed to the words it used itself.
import { expect, it } from 'vitest'
import { placeInState } from './message-pointer.ts'

it.each([
  ['/taskId', '/agentState/taskId'],
  ['/costTracking/costSpentSoFarUSD', '/agentState/cost/spentSoFarUSD'],
  ['/costTracking/tokenSpent/prompt', '/agentState/cost/tokenSpent/prompt'],
  ['/cost/ownCostUSD', '/agentState/cost/ownCostUSD'],
  ['/constraints/3', '/constraints/list/3'],
  ['/toAgent/agentType', '/targetAgentType'],
  ['/toAgent/agentVersion', '/constraints/agentVersion'],
  ['/replySchemaRef', '/constraints/replySchemaRef'],
  ['/replySchema', '/constraints/replySchema'],
  ['/personalDataPayload/~1a', '/agentState/personalData/payload/~1a'],
  ['/x-private', '/agentState/extensions/x-private'],
  ['', '/agentState'],
])('%j becomes %j', (message, posted) => {
  expect(placeInState(message)).toBe(posted)
})
