// The auditor takes records, and answers nothing about them.
import type { GameDay } from '../game-day.ts'

export const readsFail: GameDay = {
  name: 'reads-fail',
  breaks: 'the role that reads the audit log may not connect, and three people ask for traces',
  alerts: ['BatonReadsFail'],
  watched: { metric: 'baton_breaker_open', where: { target: 'auditor_reads' }, how: 'max' },
  timesFaster: 60,
  seconds: 60,
  perSecond: 4,
  async breakIt({ readers, sql }) {
    readers(3, 'traces')
    await sql('baton_audit', 'alter role audit_reader nologin')
    await sql(
      'baton_audit',
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'audit_reader'`,
    )
  },
  mend: {
    says: [
      'npm run baton -- doctor   (the auditor answers, its reader does not)',
      'psql: alter role audit_reader login',
    ],
    run: async ({ sql }) => void (await sql('baton_audit', 'alter role audit_reader login')),
  },
}
