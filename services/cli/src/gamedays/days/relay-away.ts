// Nobody publishes what is committed; without Redis that is the receiver's part.
import type { GameDay } from '../game-day.ts'

export const relayAway: GameDay = {
  name: 'relay-away',
  breaks: 'the process that relays is stopped: what is sent stays in the outbox',
  alerts: ['BatonOutboxStale', 'BatonProcessDown'],
  watched: { metric: 'baton_outbox_oldest_age_seconds', how: 'max' },
  timesFaster: 60,
  seconds: 70,
  perSecond: 2,
  breakIt: ({ services }) => services.stop('receiver'),
  mend: {
    says: ['curl -s http://127.0.0.1:8432/readyz', 'node services/receiver/src/main.ts'],
    run: ({ services }) => services.start('receiver'),
  },
}
