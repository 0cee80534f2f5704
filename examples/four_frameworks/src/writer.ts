// Vercel AI SDK: an agent that writes, streaming, and whose model hands over to the checker by a tool.
import { handOverTool, hostAiSdkAgent } from '@baton/ai-sdk'
import { ToolLoopAgent } from 'ai'
import { doOutside } from './effects.ts'
import { host } from './host.ts'
import { modelSaying } from './models.ts'
import { pass } from './points.ts'
import { COST_USD } from './prices.ts'

const ANSWERS = [
  { tool: 'check', input: { task: 'Check the sentence.' } },
  { text: ['Wash the rice, ', 'boil it, ', 'and let it rest.'] },
] as const

await host(
  hostAiSdkAgent({
    type: 'writer',
    version: '1.0.0',
    costUSD: COST_USD,
    agent: ({ context, handOver }) =>
      new ToolLoopAgent({
        model: modelSaying(ANSWERS, (index) => {
          pass(index === 0 ? 'writer begins' : 'writer has handed over')
          if (index > 0) return
          doOutside('writer', context)
          pass('writer has written')
        }),
        tools: { check: handOverTool({ handOver, to: 'checker' }) },
      }),
  }),
)
