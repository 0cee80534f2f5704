// A process ends and does not come back.
import type { GameDay } from '../game-day.ts'

export const processAway: GameDay = {
  name: 'process-away',
  breaks: 'the archiver is killed',
  alerts: ['BatonProcessDown'],
  watched: { metric: 'baton_build_info', how: 'sum' },
  timesFaster: 60,
  seconds: 30,
  perSecond: 2,
  breakIt: ({ services }) => services.kill('archiver'),
  mend: {
    says: ['node services/archiver/src/main.ts'],
    run: ({ services }) => services.start('archiver'),
  },
}
