// The packed SDK installed in a folder outside this checkout, without a registry.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './folders.ts'

const run = promisify(execFile)
/** What `npm install` would do: every library is one that this checkout has installed, in the same version. */
export async function installPackedSdk(tarball: string, folder: string): Promise<void> {
  const installed = join(folder, 'node_modules', '@baton', 'sdk')
  await mkdir(installed, { recursive: true })
  await run('tar', ['xzf', tarball, '-C', installed, '--strip-components=1'])
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const owners = (await readdir(join(ROOT, 'packages'))).map((owner) =>
    join(ROOT, 'packages', owner),
  )
  for (const name of [...Object.keys(manifest.dependencies), '@types/node']) {
    const found = [...owners, ROOT]
      .map((owner) => join(owner, 'node_modules', name))
      .find((path) => existsSync(path))
    const place = join(folder, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(found ?? '', place)
  }
}
