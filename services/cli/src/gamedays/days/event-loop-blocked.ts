// An agent computes for so long at a time that its whole process stands still.
import type { GameDay } from '../game-day.ts'

export const eventLoopBlocked: GameDay = {
  name: 'event-loop-blocked',
  breaks: 'an agent blocks its process for 0.6 s at a time, again and again',
  alerts: ['BatonEventLoopBlocked'],
  watched: { metric: 'nodejs_eventloop_lag_p99_seconds', how: 'max' },
  timesFaster: 60,
  seconds: 60,
  perSecond: 2,
  breakIt: async ({ load }) => load.mix('blocking', 2),
  mend: {
    says: ['move what computes into a worker thread (here: no such task any more)'],
    run: async ({ load }) => load.calm(),
  },
}
