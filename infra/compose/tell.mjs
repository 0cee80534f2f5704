// Puts what was made for a container into that container's own volume, under the path at which the container sees it.
import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const HOME = '/etc/baton'
const TOLD = '/var/lib/baton/told'

/** For its owner alone, or for whichever account an image of others runs as: nobody else mounts that volume. */
const MODES = { own: 0o600, others: 0o444 }

/** Files and folders of HOME, named from there, and where they are put; what is replaced is whole at every moment. */
export function tell(name, files, readers = 'own') {
  const volume = join(TOLD, name)
  for (const [from, to] of files) {
    const target = join(volume, to)
    const fresh = `${target}.fresh`
    mkdirSync(join(target, '..'), { recursive: true })
    if (statSync(join(HOME, from)).isDirectory()) {
      mkdirSync(target, { recursive: true })
      tell(
        name,
        readdirSync(join(HOME, from)).map((entry) => [join(from, entry), join(to, entry)]),
        readers,
      )
      continue
    }
    cpSync(join(HOME, from), fresh)
    chmodSync(fresh, MODES[readers])
    renameSync(fresh, target)
  }
}

/** A certificate, its key and who vouches for the other side, where `init` says that they are. */
export const certificates = (name, folder = 'tls') =>
  [`${name}.crt`, `${name}.key`, 'ca.crt'].map((file) => [join('tls', file), join(folder, file)])
