// Postgres refuses the scrubber, and appends go on.
import type { GameDay } from '../game-day.ts'

export const scrubStopped: GameDay = {
  name: 'scrub-stopped',
  breaks: 'the role that reads the audit log may not connect any more: nothing is read again',
  alerts: ['BatonScrubStopped'],
  watched: { metric: 'baton_audit_scrubbed_records_total', how: 'sum' },
  timesFaster: 720,
  seconds: 150,
  perSecond: 8,
  settings: { auditor: { BATON_AUDIT_SCRUB_PER_SECOND: '50' } },
  /** Over a small log a pass begins every ten minutes only: it must be large enough for a pass that goes on all the time. */
  async prepare({ services, pause }) {
    await pause(GROWING_MS)
    await services.start('auditor')
  },
  breakIt: async ({ sql }) => {
    await sql('baton_audit', 'alter role audit_reader nologin')
    await sql(
      'baton_audit',
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'audit_reader'`,
    )
  },
  mend: {
    says: [
      'grep -h audit.scrub_failed .baton/logs/auditor.log | tail -n 5',
      'psql: alter role audit_reader login',
    ],
    run: async ({ sql }) => void (await sql('baton_audit', 'alter role audit_reader login')),
  },
}

const GROWING_MS = 30_000
