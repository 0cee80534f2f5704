// Unpacks Redis (or Valkey) from the distribution's own packages into a folder, without root and without installing.
// Debian and Ubuntu only: apt-get resolves, downloads and checks the distribution's signatures, dpkg-deb unpacks what is as the
// signed index says, and nothing outside the folder is written.
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkedArchives } from './archives.ts'

const run = promisify(execFile)
const APT_MAX_MS = 180_000
/** Whatever the system's own configuration lets pass. */
const SIGNED_ONLY = [
  'APT::Get::AllowUnauthenticated=false',
  'Acquire::AllowInsecureRepositories=false',
  'Acquire::AllowDowngradeToInsecureRepositories=false',
  'Acquire::AllowWeakRepositories=false',
] as const
const PACKAGES = ['redis-server', 'valkey-server'] as const

/** A server binary and the folders its shared libraries are in. */
export interface ServerBinary {
  readonly command: string
  readonly libraryPath: string | null
}

type Attempt = { readonly binary: ServerBinary } | { readonly reason: string }

/** The server that an earlier call unpacked into `folder`, when it still runs. */
export async function unpackedServer(folder: string): Promise<ServerBinary | null> {
  for (const name of PACKAGES) {
    const command = join(folder, 'usr', 'bin', name)
    if (!(await stat(command).catch(() => null))) continue
    const binary = { command, libraryPath: await libraryPath(folder) }
    if (await runs(binary)) return binary
  }
  return null
}

/** Downloads and unpacks into `folder`; the reason says, for people, why it could not. */
export async function unpackFromDistribution(folder: string): Promise<Attempt> {
  if (process.platform !== 'linux' || !(await hasTools()))
    return { reason: 'this system has no apt-get and dpkg-deb to unpack one from' }
  const draft = `${folder}.${process.pid}.draft`
  const reasons: string[] = []
  try {
    for (const lists of ['system', 'private'] as const) {
      for (const name of PACKAGES) {
        const problem = await unpack(name, lists, draft).catch((error: unknown) => words(error))
        if (problem === null) return await settle(draft, folder)
        reasons.push(`${name} (${lists} package lists): ${problem}`)
      }
    }
    return {
      reason: `the distribution's packages could not be had: ${reasons[0] ?? 'none offered'}`,
    }
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function unpack(
  name: string,
  lists: 'system' | 'private',
  draft: string,
): Promise<string | null> {
  const options = await aptOptions(draft, lists)
  if (lists === 'private') await refreshLists(options, draft)
  const wanted = await missingPackages(name, options)
  const archives = join(draft, 'archives')
  await rm(archives, { recursive: true, force: true })
  await mkdir(archives, { recursive: true })
  const download = ['download', ...wanted]
  const { stdout } = await run('apt-get', [...options, '--print-uris', ...download])
  await run('apt-get', [...options, ...download], { cwd: archives, timeout: APT_MAX_MS })
  for (const archive of await checkedArchives(archives, stdout))
    await run('dpkg-deb', ['-x', archive, join(draft, 'root')])
  return (await unpackedServer(join(draft, 'root')))
    ? null
    : 'the unpacked server does not run here'
}

/** The lists of third-party sources may fail to load; what counts is whether the download works afterwards. */
async function refreshLists(options: readonly string[], draft: string): Promise<void> {
  const marker = join(draft, 'lists-loaded')
  if (await stat(marker).catch(() => null)) return
  await run('apt-get', [...options, 'update'], { timeout: APT_MAX_MS }).catch(() => undefined)
  await mkdir(marker)
}

/** The package and those of its dependencies that this system does not have. */
async function missingPackages(name: string, options: readonly string[]): Promise<string[]> {
  const simulate = [...options, '--simulate', '--no-install-recommends', 'install', name]
  const { stdout } = await run('apt-get', simulate, { timeout: APT_MAX_MS })
  const named = [...stdout.matchAll(/^Inst (\S+)/gm)].flatMap(([, found]) => found ?? [])
  return named.length > 0 ? named : [name]
}

async function aptOptions(draft: string, lists: 'system' | 'private'): Promise<string[]> {
  const cache = join(draft, 'cache')
  await mkdir(join(cache, 'archives', 'partial'), { recursive: true })
  const settings = [
    `Dir::Cache=${cache}`,
    `APT::Sandbox::User=${process.getuid?.() === 0 ? 'root' : ''}`,
    'Debug::NoLocking=1',
    ...SIGNED_ONLY,
    'Acquire::Languages=none',
    'Acquire::Retries=2',
    'Acquire::http::Timeout=20',
    'Acquire::https::Timeout=20',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
    'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false',
  ]
  if (lists === 'private') {
    await mkdir(join(draft, 'lists', 'partial'), { recursive: true })
    settings.push(`Dir::State::lists=${join(draft, 'lists')}`)
  }
  return ['-qq', ...settings.flatMap((setting) => ['-o', setting])]
}

/** The finished tree appears in one step; one that another command finished first is kept. */
async function settle(draft: string, folder: string): Promise<Attempt> {
  await rm(folder, { recursive: true, force: true })
  await rename(join(draft, 'root'), folder).catch(async () => {
    await cp(join(draft, 'root'), folder, { recursive: true, verbatimSymlinks: true })
  })
  const binary = await unpackedServer(folder)
  return binary ? { binary } : { reason: 'the unpacked server does not run here' }
}

async function libraryPath(folder: string): Promise<string> {
  const base = join(folder, 'usr', 'lib')
  const names = await readdir(base).catch(() => [])
  return [
    ...names.filter((name) => name.endsWith('-linux-gnu')).map((name) => join(base, name)),
    base,
  ].join(':')
}

async function runs({ command, libraryPath: path }: ServerBinary): Promise<boolean> {
  const env = { ...process.env, ...(path === null ? {} : { LD_LIBRARY_PATH: path }) }
  return await run(command, ['--version'], { env }).then(
    () => true,
    () => false,
  )
}

async function hasTools(): Promise<boolean> {
  const tried = await Promise.allSettled([
    run('apt-get', ['--version']),
    run('dpkg-deb', ['--version']),
  ])
  return tried.every(({ status }) => status === 'fulfilled')
}

function words(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string }
  return (stderr?.trim() || message || 'failed').split('\n').slice(0, 3).join(' ')
}
