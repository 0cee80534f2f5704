// Conversations grow beyond the window of the agent that they are for. The alert compares with the day before, so that the day
// begins with one of short conversations.
import type { GameDay } from '../game-day.ts'

const DAY_BEFORE_MS = 255_000

export const contextsGrow: GameDay = {
  name: 'contexts-grow',
  breaks:
    'every second task brings a conversation of 40 turns: more than its second agent can read',
  alerts: ['BatonCompressionSpike'],
  watched: { metric: 'baton_context_compressions_total', how: 'sum' },
  timesFaster: 360,
  seconds: 320,
  perSecond: 14,
  prepare: ({ pause }) => pause(DAY_BEFORE_MS),
  breakIt: async ({ load }) => load.mix('talkative', 2),
  mend: {
    says: [
      'npm run baton -- cost   (whose prompts grow)',
      'let the sender end its conversations, or raise contextWindowTokens of the agent (here: no such task any more)',
    ],
    run: async ({ load }) => load.calm(),
  },
}
