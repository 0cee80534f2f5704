// Clears the pid file of a Postgres that is surely gone. Postgres itself refuses to start while any process has the
// id in that file, and in containers that may be an unrelated process, or a dead one that nobody collected.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { transient } from '@baton/runtime'
import { settles } from '../server-process.ts'

const CHILDREN_LEAVE_MAX_MS = 20_000

/**
 * Call only when no server runs on the home. Waits until the last child of the killed server has let go of its
 * shared memory, because starting beside one would corrupt the data. Where Linux's list of shared memory is
 * missing, the file stays and Postgres judges for itself.
 */
export async function clearStaleLock(home: string): Promise<void> {
  const path = join(home, 'data', 'postmaster.pid')
  const lines = (await readFile(path, 'utf8').catch(() => '')).split('\n')
  const segment = lines[6]?.trim().split(/\s+/)[1]
  if (segment === undefined || (await attachedTo(segment)) === null) return
  if (!(await settles(async () => (await attachedTo(segment)) === 0, CHILDREN_LEAVE_MAX_MS))) {
    throw transient(
      'BATON_POSTGRES_STILL_ENDING',
      `processes of a killed Postgres still use ${home}`,
      {
        fix: 'End the remaining "postgres:" processes, then try again.',
      },
    )
  }
  await rm(path, { force: true })
}

/** How many processes are attached to a shared memory segment; null when that cannot be known here. */
async function attachedTo(segment: string): Promise<number | null> {
  const table = await readFile('/proc/sysvipc/shm', 'utf8').catch(() => null)
  if (table === null) return null
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/))
  return Number(rows.find((row) => row[1] === segment)?.[6] ?? 0)
}
