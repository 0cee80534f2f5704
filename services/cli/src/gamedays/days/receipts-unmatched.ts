// The operational database holds receipts that the audit log never gave.
import type { GameDay } from '../game-day.ts'

const CHANGED = 5
/** The same twice is what stood there: one bit of a receipt. */
const FLIP = `update execution set audit_hash = set_byte(audit_hash, 0, get_byte(audit_hash, 0) # 1)
  where handoff_id in (select handoff_id from execution where audit_hash is not null order by handoff_id limit ${CHANGED})`

export const receiptsUnmatched: GameDay = {
  name: 'receipts-unmatched',
  breaks: `a superuser changes the receipts of ${CHANGED} executions; they are compared once a minute`,
  alerts: ['BatonReceiptsUnmatched'],
  watched: {
    metric: 'baton_receipts_unmatched_total',
    where: { state: 'different' },
    how: 'sum',
  },
  timesFaster: 360,
  seconds: 150,
  perSecond: 2,
  async breakIt({ load, sql, pause }) {
    // No execution that comes after it may take a place among the first: the mending changes the same ones.
    await load.stop()
    await pause(2_000)
    await sql('baton', FLIP)
  },
  mend: {
    says: [
      'npm run baton -- verify --json > verify-receipts.json   (exit 0: the log itself is whole)',
      'restore the operational database that belongs to this log (here: the very bits are put back)',
    ],
    run: async ({ sql }) => void (await sql('baton', FLIP)),
  },
}
