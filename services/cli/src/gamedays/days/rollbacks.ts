// An agent fails whatever it is given.
import type { GameDay } from '../game-day.ts'

export const rollbacks: GameDay = {
  name: 'rollbacks',
  breaks: 'every twentieth task is of a kind that its agent always fails',
  alerts: ['BatonRollbacks', 'BatonEscalations'],
  watched: { metric: 'baton_rollbacks_total', how: 'sum' },
  timesFaster: 60,
  seconds: 110,
  perSecond: 6,
  settings: { receiver: { BATON_RETRY_BASE_MS: '20' } },
  breakIt: async ({ load }) => load.mix('failing', 20),
  mend: {
    says: [
      'npm run baton -- escalations',
      'mend the agent (here: no such task any more)',
      'npm run baton -- escalations resolve ID --why "the agent is mended"   (each of them)',
    ],
    async run({ load, baton, pause }) {
      load.calm()
      await pause(3_000)
      const data = await baton('escalations', 'ls', '--state', 'open', '--limit', '200')
      for (const { handoffId } of JSON.parse(data) as readonly { handoffId: string }[])
        await baton('escalations', 'resolve', handoffId, '--why', 'the agent is mended')
    },
  },
}
