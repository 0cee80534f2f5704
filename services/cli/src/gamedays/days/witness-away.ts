// Nobody outside keeps the newest seals.
import type { GameDay } from '../game-day.ts'

export const witnessAway: GameDay = {
  name: 'witness-away',
  breaks: 'the witness is stopped: nobody outside sees the newest seals',
  alerts: ['BatonLogUnwitnessed'],
  watched: { metric: 'baton_audit_unwitnessed_age_seconds', how: 'max' },
  timesFaster: 60,
  lowered: { alert: 'BatonLogUnwitnessed', limit: 900, dividedBy: 30 },
  seconds: 80,
  perSecond: 2,
  breakIt: ({ services }) => services.stop('witness'),
  mend: {
    says: ['tail -n 5 .baton/logs/witness.log', 'node services/witness/src/main.ts'],
    run: ({ services }) => services.start('witness'),
  },
}
