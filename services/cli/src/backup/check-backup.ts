// Checks a backup without restoring it: that every file and every object is what its list says.
import { createFileColdStore } from '@baton/audit'
import { join } from 'node:path'
import { listFile, sharedPlaces } from './backup-folder.ts'
import type { StoredBackup } from './backup-folder.ts'
import { readColdList, sha256Of } from './copy-cold.ts'

export interface BackupCheck {
  readonly files: number
  readonly objects: number
  readonly bytes: number
  /** Each in words; none where all is well. */
  readonly faults: readonly string[]
}

const AT_ONCE = 16

/** Reads everything once. Signed tree heads of the cold store move on with later backups, so they are only looked for. */
export async function checkBackup(
  root: string,
  { folder, manifest }: StoredBackup,
  onProgress: (bytes: number) => void,
): Promise<BackupCheck> {
  const faults: string[] = []
  let bytes = 0
  for (const file of manifest.files) {
    const found = await listFile(folder, file.path).catch(() => undefined)
    if (found === undefined) faults.push(`${file.path} is missing`)
    else if (found.sha256 !== file.sha256)
      faults.push(`${file.path} was changed: it has ${found.bytes} bytes of ${file.bytes}`)
    bytes += found?.bytes ?? 0
    onProgress(bytes)
  }
  const pool = createFileColdStore(sharedPlaces(root).cold)
  const objects = manifest.cold === null ? [] : [...(await readColdList(join(folder))).values()]
  for (let at = 0; at < objects.length; at += AT_ONCE) {
    const some = objects.slice(at, at + AT_ONCE)
    const read = await Promise.all(some.map(async ({ name }) => pool.get(name)))
    some.forEach(({ name, sha256 }, index) => {
      const object = read[index]
      if (object === undefined) faults.push(`cold/${name} is missing`)
      else if (object === null || (!name.endsWith('/checkpoint') && sha256Of(object) !== sha256))
        faults.push(`cold/${name} was changed`)
      bytes += object?.length ?? 0
    })
    onProgress(bytes)
  }
  return { files: manifest.files.length, objects: objects.length, bytes, faults }
}
