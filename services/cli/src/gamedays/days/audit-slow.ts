// Every answer of the audit database takes long.
import type { GameDay } from '../game-day.ts'

const LATENCY_MS = 60

export const auditSlow: GameDay = {
  name: 'audit-slow',
  breaks: `each answer between auditor and Postgres takes ${LATENCY_MS} ms longer, both ways`,
  alerts: ['BatonAppendSlow', 'BatonLatencyBurnFast', 'BatonLatencyBurnSlow', 'BatonPairSlow'],
  watched: { metric: 'baton_audit_append_seconds_sum', how: 'sum' },
  timesFaster: 90,
  seconds: 240,
  perSecond: 16,
  async breakIt({ services, slowLink }) {
    const url = services.settingOf('auditor', 'BATON_AUDIT_WRITER_URL')
    const link = await slowLink(url)
    await services.start('auditor', { BATON_AUDIT_WRITER_URL: link.url })
    link.delay(LATENCY_MS)
  },
  mend: {
    says: [
      'psql "$BATON_AUDIT_WRITER_URL" -c "select 1"   (how long does one answer take?)',
      'bring auditor and Postgres near each other (here: the slow link is taken out)',
    ],
    run: ({ services }) => services.start('auditor'),
  },
}
