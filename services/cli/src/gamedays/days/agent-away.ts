// One of two agents is hosted by nobody any more.
import { HOSTED, WRITER } from '../agents.ts'
import type { GameDay } from '../game-day.ts'

export const agentAway: GameDay = {
  name: 'agent-away',
  breaks: 'nobody hosts the second agent: its work waits',
  alerts: ['BatonAgentAway'],
  watched: { metric: 'baton_queue_oldest_age_seconds', how: 'max' },
  timesFaster: 60,
  seconds: 100,
  perSecond: 2,
  withRedis: true,
  breakIt: ({ services }) => services.start('receiver', { [HOSTED]: WRITER }),
  mend: {
    says: ['npm run baton -- agents', 'node services/receiver/src/main.ts'],
    run: ({ services }) => services.start('receiver'),
  },
}
