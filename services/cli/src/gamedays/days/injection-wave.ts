// Somebody floods the agents with orders that are planted in texts.
import { discardAll } from '../discard-all.ts'
import type { GameDay } from '../game-day.ts'

export const injectionWave: GameDay = {
  name: 'injection-wave',
  breaks: 'every eighth task carries a prompt injection: the scanner stops it for a person',
  alerts: ['BatonSafetyViolations', 'BatonValidationFailures', 'BatonDeadLetters'],
  watched: { metric: 'baton_dead_letter_depth', how: 'max' },
  timesFaster: 60,
  seconds: 120,
  perSecond: 6,
  breakIt: async ({ load }) => load.mix('injection', 8),
  mend: {
    says: [
      'stop whoever sends them (here: the load is calm again)',
      'npm run baton -- dlq ls --reason SAFETY_VIOLATION',
      'npm run baton -- dlq discard ID   (each of them)',
    ],
    run: discardAll,
  },
}
