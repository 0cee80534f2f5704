// An agent that is called over HTTP does not answer.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OUTSIDE } from '../agents.ts'
import type { GameDay } from '../game-day.ts'

/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:29999/work'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export const outsideAway: GameDay = {
  name: 'outside-away',
  breaks: 'an agent outside is called where nobody listens',
  alerts: ['BatonOutsideCallsFail'],
  watched: { metric: 'baton_outside_calls_total', where: { outcome: 'failed' }, how: 'sum' },
  timesFaster: 60,
  seconds: 90,
  perSecond: 4,
  async breakIt({ services, load, home }) {
    const file = join(home, 'push-agents.json')
    const agent = { type: OUTSIDE, version: '1.0.0', url: NOBODY, requires: ['kind'] }
    const agents = [{ ...agent, secretEnv: 'GAMEDAY_SECRET', allowPrivate: true }]
    await writeFile(file, JSON.stringify({ agents }))
    await services.start('receiver', { BATON_PUSH_AGENTS: file, GAMEDAY_SECRET: SECRET })
    load.mix('outside', 1)
  },
  mend: {
    says: [
      'curl -i the address of the agent   (does it answer?)',
      'start it (here: nothing is sent to it any more)',
    ],
    async run({ services, load }) {
      load.calm()
      await services.start('receiver')
    },
  },
}
