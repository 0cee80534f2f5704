// The classifier beside the scanner cannot be reached.
import type { GameDay } from '../game-day.ts'

/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:29998/v1/classify'

export const classifierAway: GameDay = {
  name: 'classifier-away',
  breaks: 'receivers ask a classifier where nobody listens',
  alerts: ['BatonClassifierFails'],
  watched: { metric: 'baton_breaker_open', where: { target: 'classifier' }, how: 'max' },
  timesFaster: 60,
  seconds: 60,
  perSecond: 4,
  breakIt: async ({ services }) => services.start('receiver', { BATON_CLASSIFIER_URL: NOBODY }),
  mend: {
    says: [
      'grep classifier.paused .baton/logs/receiver.log   (no tenant: it cannot be reached at all)',
      'start the classifier (here: receivers ask nobody any more)',
    ],
    run: async ({ services }) => services.start('receiver'),
  },
}
