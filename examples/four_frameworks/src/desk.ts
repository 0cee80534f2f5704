// OpenAI Agents SDK: the program that somebody asks. Its model hands over to the planner, an agent of Baton, and what comes back is the answer.
import { batonHandoff } from '@baton/openai-agents'
import { createHandOver, createSender, readSenderOptions } from '@baton/sdk'
import { Agent, Runner, Usage } from '@openai/agents'
import { functionCall, modelResponder, ScriptedModel } from '@openai/agents/testing'
import { COST_USD } from './prices.ts'
import { pass } from './points.ts'

const [requestId = crypto.randomUUID(), question = 'How do I cook rice?'] = process.argv.slice(2)

// Any model will do; this one needs no key, and its calls have another id each time, as those of real models do.
const model = new ScriptedModel([
  modelResponder(() => {
    pass('desk asks its model')
    return {
      output: [
        functionCall('transfer_to_planner', { task: question }, { callId: crypto.randomUUID() }),
      ],
      usage: new Usage({ inputTokens: 20, outputTokens: 5, totalTokens: 25 }),
    }
  }),
])

await using sender = createSender(readSenderOptions(process.env))
const handOver = createHandOver({
  sender,
  agent: { agentId: 'desk', agentVersion: '1.0.0' },
  budgetUSD: 1,
  waitMs: 120_000,
})
const desk = new Agent({
  name: 'desk',
  model,
  handoffs: [
    batonHandoff({
      handOver,
      to: 'planner',
      // Whoever starts this program again with the same request asks for the same work.
      key: requestId,
      costUSD: ({ inputTokens, outputTokens }) =>
        COST_USD({ prompt: inputTokens, completion: outputTokens }),
    }),
  ],
})
const { finalOutput } = await new Runner({ tracingDisabled: true }).run(desk, question)
pass('desk is answered')
process.stdout.write(`answer ${JSON.stringify(finalOutput)}\n`)
