// Somebody with the rights of a superuser changes a record.
import { unguarded } from '../attack.ts'
import type { GameDay } from '../game-day.ts'

/** The same twice is what stood there: one bit of the first record's body. */
const FLIP = unguarded(
  `update audit.record set body = set_byte(body, 0, get_byte(body, 0) # 1) where seq = 0`,
)

export const tamperedRecord: GameDay = {
  name: 'tampered-record',
  breaks: 'a superuser changes the first record of the audit log, and the log is verified',
  alerts: ['BatonLogTampered'],
  watched: { metric: 'baton_audit_tamper_detected_total', how: 'sum' },
  timesFaster: 360,
  seconds: 60,
  perSecond: 2,
  async breakIt({ sql, verify }) {
    await sql('baton_audit', FLIP)
    await verify()
  },
  mend: {
    says: [
      'npm run baton -- verify --json > verify-first.json',
      'put back what was sealed (here: the very byte; elsewhere from the back-up)',
      'npm run baton -- verify   (exit 0)',
    ],
    async run({ sql, verify }) {
      await sql('baton_audit', FLIP)
      const verdict = await verify()
      if (verdict !== 'verified') throw new Error(`the log is still ${verdict}`)
    },
  },
}
