// The disk of the cold store fills up.
import { join } from 'node:path'
import type { GameDay } from '../game-day.ts'
import { emptySmallDisk, fillSmallDisk } from '../small-disk.ts'

const FULL = 0.97

export const diskFull: GameDay = {
  name: 'disk-full',
  breaks: 'the small disk under the cold store is filled; disks are looked at once a minute',
  alerts: ['BatonDiskLow', 'BatonDiskFull'],
  watched: { metric: 'baton_disk_free_ratio', where: { folder: 'cold' }, how: 'min' },
  timesFaster: 60,
  seconds: 160,
  perSecond: 2,
  needsRoot: true,
  async prepare({ services, home, smallDisk }) {
    await services.stop('archiver')
    await smallDisk(join(home, 'cold'))
    await services.start('archiver')
  },
  breakIt: ({ home }) => fillSmallDisk(join(home, 'cold'), FULL),
  mend: {
    says: [
      'df -h .baton; du -xh -d 2 .baton | sort -h | tail -n 15',
      'win room: files of others, old logs (here: the file that fills it), or enlarge the volume',
    ],
    run: ({ home }) => emptySmallDisk(join(home, 'cold')),
  },
}
