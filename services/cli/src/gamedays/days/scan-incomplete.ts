// Messages hide more texts inside others than the scanner reads.
import { discardAll } from '../discard-all.ts'
import type { GameDay } from '../game-day.ts'

export const scanIncomplete: GameDay = {
  name: 'scan-incomplete',
  breaks: 'every second task carries a text encoded five times over: deeper than is read',
  alerts: ['BatonScanIncomplete'],
  watched: { metric: 'baton_scan_incomplete_total', how: 'sum' },
  timesFaster: 180,
  seconds: 70,
  perSecond: 2,
  breakIt: async ({ load }) => load.mix('encoded', 2),
  mend: {
    says: [
      'npm run baton -- tasks --limit 50   (which agent sends encoded data?)',
      'let it hand over a reference instead of the bytes (here: no such task any more)',
      'npm run baton -- dlq ls --reason SAFETY_VIOLATION',
      'npm run baton -- dlq discard ID   (each of them)',
    ],
    run: discardAll,
  },
}
