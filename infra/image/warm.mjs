// In the build of the image: has each process compile what it loads, so that a container starts in half the time. Each ends at once, because
// it is told nothing. Who runs the container reads what is kept here and cannot change it.
import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync } from 'node:fs'
import { PROCESSES } from './settings.mjs'

/** Node keeps what it compiles by user. */
const USER = { uid: 10_001, gid: 10_001 }
const folder = process.argv[2]

mkdirSync(folder, { recursive: true })
chownSync(folder, USER.uid, USER.gid)
for (const name of [...PROCESSES, 'cli']) {
  const { error } = spawnSync(process.execPath, [`services/${name}/src/main.ts`], {
    ...USER,
    stdio: 'ignore',
    env: { NODE_COMPILE_CACHE: folder },
  })
  if (error !== undefined) throw error
}
