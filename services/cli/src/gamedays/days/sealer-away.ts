// Records are appended, and nobody seals them.
import type { GameDay } from '../game-day.ts'

export const sealerAway: GameDay = {
  name: 'sealer-away',
  breaks: 'the sealer is stopped: records wait for their seal',
  alerts: ['BatonLogUnsealed'],
  watched: { metric: 'baton_audit_unsealed_age_seconds', how: 'max' },
  timesFaster: 60,
  seconds: 70,
  perSecond: 2,
  breakIt: ({ services }) => services.stop('sealer'),
  mend: {
    says: ['tail -n 20 .baton/logs/sealer.log', 'node services/sealer/src/main.ts'],
    run: ({ services }) => services.start('sealer'),
  },
}
