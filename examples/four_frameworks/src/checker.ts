// Mastra: an agent that checks, and ends the task.
import { hostMastraAgent } from '@baton/mastra'
import { Agent } from '@mastra/core/agent'
import { doOutside } from './effects.ts'
import { host } from './host.ts'
import { modelSaying } from './models.ts'
import { pass } from './points.ts'
import { COST_USD } from './prices.ts'

await host(
  hostMastraAgent({
    type: 'checker',
    version: '1.0.0',
    costUSD: COST_USD,
    agent: ({ context }) => {
      const model = modelSaying(
        [{ text: ['Wash the rice, boil it, and let it rest.', ' Checked.'] }],
        () => {
          pass('checker begins')
          doOutside('checker', context)
          pass('checker has checked')
        },
      )
      return new Agent({
        id: 'checker',
        name: 'checker',
        instructions: 'Check.',
        model: model as never,
      })
    },
  }),
)
