// Somebody tidies up in the cold store.
import { readdir, rename } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { GameDay } from '../game-day.ts'

const AWAY = 'away-'

export const bundleAway: GameDay = {
  name: 'bundle-away',
  breaks: 'a bundle is removed from the folder of the cold store',
  alerts: ['BatonColdFaults'],
  watched: { metric: 'baton_audit_cold_faults', how: 'max' },
  timesFaster: 60,
  seconds: 60,
  perSecond: 4,
  settings: { archiver: { BATON_ARCHIVE_WATCH_EVERY_MS: '1000' } },
  async breakIt({ services, home }) {
    // One that drains archives what is there, full bundle or not.
    await services.start('archiver')
    const bundle = await someBundle(join(home, 'cold'))
    await rename(bundle, join(home, `${AWAY}${encodeURIComponent(relative(home, bundle))}`))
  },
  mend: {
    says: [
      'npm run baton -- audit tiers   (exit 3: names what is missing)',
      'put the object back (here: the very file; elsewhere from a copy, or `audit mend-cold`)',
      'start the archiver again: it has stopped for good',
    ],
    async run({ services, home }) {
      for (const name of await readdir(home))
        if (name.startsWith(AWAY))
          await rename(join(home, name), join(home, decodeURIComponent(name.slice(AWAY.length))))
      await services.start('archiver')
    },
  },
}

async function someBundle(cold: string): Promise<string> {
  const found = await readdir(cold, { recursive: true, withFileTypes: true })
  const bundles = found
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => path.includes('/s0/tile/entries/'))
  if (bundles[0] === undefined) throw new Error(`there is no bundle in ${cold} yet`)
  return bundles[0]
}
