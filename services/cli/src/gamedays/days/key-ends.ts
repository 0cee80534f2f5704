// An API key has a last day, and it is near.
import { hash } from 'node:crypto'
import type { GameDay } from '../game-day.ts'

const DAY_MS = 86_400_000

export const keyEnds: GameDay = {
  name: 'key-ends',
  breaks: 'an API key of the gateway ends at midnight (UTC)',
  alerts: ['BatonExpiresSoon', 'BatonExpiresNow'],
  watched: { metric: 'baton_expiry_timestamp_seconds', how: 'min' },
  timesFaster: 60,
  seconds: 45,
  perSecond: 2,
  breakIt({ services }) {
    const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)
    const ending = `gameday@gameday:handoffs:read:${hash('sha256', 'held by nobody')}:${tomorrow}`
    const entries = `${services.settingOf('gateway', 'BATON_API_KEYS')},${ending}`
    return services.start('gateway', { BATON_API_KEYS: entries })
  },
  mend: {
    says: [
      'put a new entry beside the one that ends, and give the new key to who uses it',
      'remove the old entry from BATON_API_KEYS, and start the gateway again',
    ],
    run: ({ services }) => services.start('gateway'),
  },
}
