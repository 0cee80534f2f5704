// Whoever Baton tells of alerts does not listen.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GameDay } from '../game-day.ts'

/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:29999/hook'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export const webhookAway: GameDay = {
  name: 'webhook-away',
  breaks: 'alerts are told to a webhook where nobody listens, and tasks fail',
  alerts: ['BatonAlertsUndelivered'],
  watched: { metric: 'baton_alert_deliveries_total', where: { outcome: 'failed' }, how: 'sum' },
  timesFaster: 10,
  seconds: 240,
  perSecond: 4,
  async breakIt({ services, load, home }) {
    const file = join(home, 'webhooks.json')
    const pager = { name: 'pager', url: NOBODY, secretEnv: 'GAMEDAY_SECRET', allowPrivate: true }
    await writeFile(file, JSON.stringify({ webhooks: [pager] }))
    await services.start('receiver', { BATON_ALERT_WEBHOOKS: file, GAMEDAY_SECRET: SECRET })
    load.mix('failing', 4)
  },
  mend: {
    says: [
      'curl -i the address of the webhook',
      'mend it, or name another in BATON_ALERT_WEBHOOKS',
    ],
    async run({ services, load }) {
      load.calm()
      await services.start('receiver')
    },
  },
}
