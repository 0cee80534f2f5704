// The auditor does not answer at all.
import type { GameDay } from '../game-day.ts'

export const auditAway: GameDay = {
  name: 'audit-away',
  breaks: 'the auditor is killed: without receipts nothing executes',
  alerts: ['BatonBreakerOpen'],
  watched: { metric: 'baton_breaker_open', where: { target: 'auditor' }, how: 'max' },
  timesFaster: 60,
  seconds: 60,
  perSecond: 4,
  breakIt: ({ services }) => services.kill('auditor'),
  mend: {
    says: ['curl -s http://127.0.0.1:8421/readyz', 'node services/auditor/src/main.ts'],
    run: ({ services }) => services.start('auditor'),
  },
}
