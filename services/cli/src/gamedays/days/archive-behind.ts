// The cold store cannot be written.
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GameDay } from '../game-day.ts'

export const archiveBehind: GameDay = {
  name: 'archive-behind',
  breaks: 'a file stands where the folder of the cold store was: nothing can be archived',
  alerts: ['BatonArchiveBehind'],
  watched: { metric: 'baton_audit_archive_lag_records', how: 'max' },
  timesFaster: 360,
  lowered: { alert: 'BatonArchiveBehind', limit: 20_000, dividedBy: 10 },
  seconds: 120,
  perSecond: 10,
  settings: { archiver: { BATON_ARCHIVE_EVERY_MS: '1000' } },
  async breakIt({ services, home }) {
    const cold = join(home, 'cold')
    // Drained, it has archived what is there, so that the folder exists.
    await services.stop('archiver')
    await rename(cold, `${cold}-away`)
    await writeFile(cold, 'no folder')
    await services.start('archiver')
  },
  mend: {
    says: [
      'grep -h archive.failed .baton/logs/archiver.log | tail -n 5',
      'bring the cold store back; the next round goes on where it was',
    ],
    async run({ home }) {
      const cold = join(home, 'cold')
      await rm(cold)
      await rename(`${cold}-away`, cold)
    },
  },
}
