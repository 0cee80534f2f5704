// Where a field of the built message came from in the posted agent state, so that a caller finds its own words.

/** Longest first; a field that is not listed has the same name in the agent state. */
const ORIGINS: readonly (readonly [message: string, posted: string])[] = [
  ['/costTracking/costSpentSoFarUSD', '/agentState/cost/spentSoFarUSD'],
  ['/costTracking/costBudgetRemainingUSD', '/agentState/cost/budgetRemainingUSD'],
  ['/costTracking', '/agentState/cost'],
  ['/cost', '/agentState/cost'],
  ['/conversationHistoryVerbatim', '/agentState/conversationHistory'],
  ['/dataSubjects', '/agentState/personalData/dataSubjects'],
  ['/personalDataPayload', '/agentState/personalData/payload'],
  ['/fromAgent', '/agentState/agent'],
  ['/toAgent/agentType', '/targetAgentType'],
  ['/toAgent/agentVersion', '/constraints/agentVersion'],
  ['/constraints', '/constraints/list'],
  ['/schemaVersion', '/constraints/schemaVersion'],
  ['/receiverList', '/constraints/receiverList'],
  ['/join', '/constraints/join'],
  ['/priority', '/constraints/priority'],
  ['/deadline', '/constraints/deadline'],
  ['/tokenBudget', '/constraints/tokenBudget'],
  ['/replySchemaRef', '/constraints/replySchemaRef'],
  ['/replySchema', '/constraints/replySchema'],
  ['/requirements', '/constraints/requirements'],
  ['/requiresApproval', '/constraints/requiresApproval'],
  ['/expiresAt', '/constraints/expiresAt'],
]

/** The pointer into `{ agentState, targetAgentType, constraints }` for a pointer into the message. */
export function placeInState(pointer: string): string {
  for (const [message, posted] of ORIGINS) {
    if (pointer === message || pointer.startsWith(`${message}/`))
      return posted + pointer.slice(message.length)
  }
  if (pointer.startsWith('/x-')) return `/agentState/extensions${pointer}`
  return `/agentState${pointer}`
}
