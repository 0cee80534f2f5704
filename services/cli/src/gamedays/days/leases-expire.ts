// A receiver stalls for longer than its leases; another one takes its work, and its late results are refused.
import type { GameDay } from '../game-day.ts'

export const leasesExpire: GameDay = {
  name: 'leases-expire',
  breaks:
    'one of two receivers is frozen for five seconds, again and again, with leases of one second',
  alerts: ['BatonLeasesExpire', 'BatonFencedCommits'],
  watched: { metric: 'baton_leases_expired_total', how: 'sum' },
  timesFaster: 60,
  seconds: 90,
  perSecond: 6,
  settings: { receiver: { BATON_LEASE_MS: '1000' } },
  async breakIt({ services, load, pause }) {
    await services.twin('receiver')
    load.mix('slow', 1)
    for (let time = 0; time < 2; time += 1) {
      await pause(2_000)
      services.freeze('receiver')
      await pause(5_000)
      services.thaw('receiver')
    }
  },
  mend: {
    says: [
      'grep -h lease.expired .baton/logs/*.log   (which process was silent)',
      'give that machine room, or start the receiver elsewhere (here: it is not frozen any more)',
    ],
    run: async ({ load }) => load.calm(),
  },
}
