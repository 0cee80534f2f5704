// LangGraph: a graph that plans, and whose last node hands over to the writer.
import { AIMessage } from '@langchain/core/messages'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { handOverNode, hostLangGraph } from '@baton/langgraph'
import { doOutside } from './effects.ts'
import { host } from './host.ts'
import { pass } from './points.ts'
import { COST_USD } from './prices.ts'

await host(
  hostLangGraph({
    type: 'planner',
    version: '1.0.0',
    costUSD: COST_USD,
    graph: ({ context, handOver }) =>
      new StateGraph(MessagesAnnotation)
        .addNode('plan', () => {
          pass('planner begins')
          doOutside('planner', context)
          pass('planner has planned')
          return { messages: [planned()] }
        })
        .addNode(
          'hand',
          handOverNode({ handOver, to: 'writer', task: 'Write it up in one sentence.' }),
        )
        .addNode('end', () => {
          pass('planner has handed over')
          return {}
        })
        .addEdge(START, 'plan')
        .addEdge('plan', 'hand')
        .addEdge('hand', 'end')
        .compile(),
  }),
)

/** A chat model of LangChain says its tokens in this way. */
const planned = (): AIMessage => {
  const message = new AIMessage('First wash it, then boil it, then let it rest.')
  return Object.assign(message, {
    usage_metadata: { input_tokens: 40, output_tokens: 10, total_tokens: 50 },
  })
}
