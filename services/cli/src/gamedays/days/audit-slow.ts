// Every answer of the audit database takes long: for an hour, and for days.
import type { GameDay } from '../game-day.ts'

const LATENCY_MS = 60

const slow = (
  name: string,
  { timesFaster, alerts }: Pick<GameDay, 'timesFaster' | 'alerts'>,
): GameDay => ({
  name,
  breaks: `each answer between auditor and Postgres takes ${LATENCY_MS} ms longer, both ways`,
  alerts,
  watched: { metric: 'baton_audit_append_seconds_sum', how: 'sum' },
  timesFaster,
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
})

export const auditSlow = slow('audit-slow', {
  timesFaster: 90,
  alerts: ['BatonAppendSlow', 'BatonLatencyBurnFast', 'BatonPairSlow'],
})

/** Three days must pass before the slow burn is over: here in two minutes, in which the fast burn's windows hold nothing. */
export const auditSlowForDays = slow('audit-slow-for-days', {
  timesFaster: 2_000,
  alerts: ['BatonLatencyBurnSlow'],
})
