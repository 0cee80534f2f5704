// An agent fails whatever it is given.
import type { GameDay } from '../game-day.ts'

export const rollbacks: GameDay = {
  name: 'rollbacks',
  breaks: 'every eighth task is of a kind that its agent always fails',
  alerts: ['BatonRollbacks'],
  watched: { metric: 'baton_rollbacks_total', how: 'sum' },
  timesFaster: 60,
  seconds: 110,
  perSecond: 6,
  settings: { receiver: { BATON_RETRY_BASE_MS: '20' } },
  breakIt: async ({ load }) => load.mix('failing', 8),
  mend: {
    says: [
      'npm run baton -- tasks --status FAILED',
      'mend the agent (here: no such task any more)',
    ],
    run: async ({ load }) => load.calm(),
  },
}
