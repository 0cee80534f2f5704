// Messages hide more texts inside others than the scanner reads.
import type { GameDay } from '../game-day.ts'

export const scanIncomplete: GameDay = {
  name: 'scan-incomplete',
  breaks: 'every second task carries long texts in Base64: more hidden forms than are read',
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
    ],
    run: async ({ load }) => load.calm(),
  },
}
