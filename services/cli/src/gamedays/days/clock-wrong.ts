// The auditor's clock runs ahead of its database's.
import type { GameDay } from '../game-day.ts'

const PRELOAD = new URL('../moved-clock.ts?ahead=6000', import.meta.url)

export const clockWrong: GameDay = {
  name: 'clock-wrong',
  breaks: 'the auditor’s clock is six seconds ahead: appends are refused',
  alerts: ['BatonClockStopsWork', 'BatonClockWrong'],
  watched: { metric: 'baton_audit_clock_ahead_seconds', how: 'max' },
  timesFaster: 60,
  seconds: 50,
  perSecond: 2,
  breakIt: ({ services }) =>
    services.start('auditor', { NODE_OPTIONS: `--import=${PRELOAD.href}` }),
  mend: {
    says: ['chronyc tracking', 'set the clock right (here: the auditor starts with the true one)'],
    run: ({ services }) => services.start('auditor'),
  },
}
