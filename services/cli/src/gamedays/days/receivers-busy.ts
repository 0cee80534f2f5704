// More work than receivers have places for.
import type { GameDay } from '../game-day.ts'

export const receiversBusy: GameDay = {
  name: 'receivers-busy',
  breaks: 'every task takes a second, and the receiver has two places',
  alerts: ['BatonReceiversBusy'],
  watched: { metric: 'baton_queue_oldest_age_seconds', how: 'max' },
  timesFaster: 60,
  seconds: 90,
  perSecond: 5,
  async breakIt({ services, load }) {
    await services.start('receiver', { BATON_CONCURRENCY: '2' })
    load.mix('slow', 1)
  },
  mend: {
    says: ['BATON_CONCURRENCY=32 node services/receiver/src/main.ts', 'or start more receivers'],
    run: ({ services }) => services.start('receiver'),
  },
}
