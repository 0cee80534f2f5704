// An installation on servers of one's own, made and started by the three commands of infra/README.md and used as its people do.
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { freePort } from '@baton/embedded'
import { spawnService, startOwnPostgres, startOwnRedis } from '@baton/testkit'
import type { OwnPostgres, OwnRedis, ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommandLine } from './command-line.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PROCESSES = ['archiver', 'auditor', 'gateway', 'receiver', 'relay', 'sealer', 'witness']

const SYSTEMD = 'systemd-analyze'
const hasSystemd = spawnSync(SYSTEMD, ['--version']).status === 0

describe('an installation on servers of one’s own', () => {
  let postgres: OwnPostgres
  let redis: OwnRedis
  let folder = ''
  let manual: readonly string[] = []
  const running = new Map<string, ServiceProcess>()
  const baton = (args: readonly string[]) => runCommandLine(args, { BATON_HOME: folder })
  /** What it said, where it ended well. */
  const fine = async (args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await baton(args)
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, ''])
    return `${stdout}${stderr}`
  }

  beforeAll(async () => {
    const base = await mkdtemp(join(tmpdir(), 'baton-installation-'))
    folder = join(base, 'installation')
    postgres = await startOwnPostgres()
    const started = await startOwnRedis()
    if ('unavailable' in started) throw new Error(started.unavailable)
    redis = started
    manual = await readManual()
  })
  afterAll(async () => {
    await Promise.all([...running.values()].map((one) => one.stop()))
    await Promise.all([postgres.stop(), redis.stop()])
    await rm(join(folder, '..'), { recursive: true, force: true })
  })

  /** The words of the manual, with the addresses of these servers. */
  const initArguments = async (): Promise<readonly string[]> => {
    const [, ...args] = wordsOf(manual[0] ?? '', 'init')
    const given = args.map((word) => {
      if (word.startsWith('/etc/baton')) return folder
      if (word.startsWith('postgres:')) return postgres.superuserUrl
      return /^rediss?:/.test(word) ? redis.url : word
    })
    return ['init', ...given, '--tls', '--first-port', String(await freePort())]
  }

  it('is made by the first command of the manual, each process with its own secrets alone', async () => {
    const args = await initArguments()
    expect(await fine(args)).toMatch(/✓ roles +8 roles connect/)
    const before = await settingsOf(folder)
    expect(before.map(([name]) => name)).toEqual(expect.arrayContaining(PROCESSES))
    for (const file of await readdir(folder, { recursive: true })) {
      const { mode } = await stat(join(folder, file))
      const isPublic = /(?:^|\/)(?:state|tls|tls\/[\w-]+\.crt)$/.test(file)
      expect([file, isPublic || (mode & 0o077) === 0]).toEqual([file, true])
    }
    expect(sharedSecrets(before)).toEqual([])
    // Run again it keeps every key, also of who has taken theirs.
    await rename(join(folder, 'people', 'bob'), join(folder, '..', 'bob'))
    await fine(args)
    expect(await settingsOf(folder)).toEqual(before.filter(([name]) => name !== 'people/bob'))
    await rename(join(folder, '..', 'bob'), join(folder, 'people', 'bob'))
  })

  it('has a unit for each process, and a script that a shell reads', async () => {
    expect(manual[1]).toBe(`sudo sh /etc/baton/systemd/install.sh`)
    const script = join(folder, 'systemd', 'install.sh')
    expect(spawnSync('sh', ['-n', script]).status).toBe(0)
    const units = (await readdir(join(folder, 'systemd'))).filter((name) => name !== 'install.sh')
    expect(units).toHaveLength(PROCESSES.length + 1)
  })

  it.skipIf(!hasSystemd)('has units that systemd takes', async () => {
    const units = (await readdir(join(folder, 'systemd'))).filter((name) => name !== 'install.sh')
    const paths = units.map((name) => join(folder, 'systemd', name))
    const judged = spawnSync(SYSTEMD, ['verify', '--man=no', ...paths], {
      encoding: 'utf8',
    })
    expect(judged.stderr.split('\n').filter(isAboutUnits)).toEqual([])
  })

  it('runs, and doctor knows all of it', async () => {
    await Promise.all(
      PROCESSES.map(async (name) => {
        const unit = await readFile(join(folder, 'systemd', `baton-${name}.service`), 'utf8')
        const file = /^EnvironmentFile=(.*)$/m.exec(unit)?.[1] ?? ''
        const main = /^ExecStart=\S+ (.*)$/m.exec(unit)?.[1] ?? ''
        const env = parseEnv(await readFile(file, 'utf8')) as Record<string, string>
        running.set(name, await spawnService({ main: relative(ROOT, main), env }))
      }),
    )
    expect(manual[2]).toBe('BATON_HOME=/etc/baton npm run baton -- doctor')
    const found = await baton(['doctor'])
    expect(found.stdout).toMatch(/✓ services/)
    expect(found.stdout).toMatch(
      /– the private keys of people are with them alone: those of ann, bob/,
    )
    expect(found.stdout).not.toMatch(/✗/)
    expect(found.exitCode).toBe(0)
  })

  it('tells programs how to join it, as far as who asks may read that', async () => {
    const ofProgram = JSON.parse((await baton(['env', '--json'])).stdout) as object
    expect(ofProgram).toMatchObject({
      BATON_HOME: folder,
      BATON_GATEWAY_URL: expect.stringMatching(/^https:/) as string,
      BATON_API_KEY: expect.stringMatching(/^bk_/) as string,
      BATON_DATABASE_URL: expect.stringContaining('baton_delivery') as string,
    })
    await rename(join(folder, 'receiver'), join(folder, '..', 'receiver'))
    const overHttp = await baton(['env', '--format', 'dotenv', '--as', 'ann'])
    await rename(join(folder, '..', 'receiver'), join(folder, 'receiver'))
    expect(overHttp.stderr).toContain('enough for programs over HTTP')
    expect(parseEnv(overHttp.stdout)).toMatchObject({
      BATON_API_KEY: expect.stringMatching(/^bk_/) as string,
      BATON_PERSON_KEY: expect.any(String) as string,
    })
    expect(overHttp.stdout).not.toContain('BATON_DATABASE_URL')
  })

  it('runs the main job, whose log is sealed, witnessed and archived', async () => {
    expect(manual[3]).toBe('BATON_HOME=/etc/baton npm run up -- --once')
    const { stdout, stderr } = await baton(['up', '--once', '--reviews', '3'])
    // How long handoffs take is no matter of a test: this machine may be busy.
    const broken = stderr.split('\n').filter((line) => /✗(?!.*p99)/.test(line))
    expect(broken).toEqual([])
    expect(stdout).toMatch(/Audit log +verified/)
    expect(await fine(['verify'])).toMatch(/✓ compared +witness .*agreed/)
  })

  it('lets two of its people release a dead letter, each with their own key', async () => {
    const [letter] = JSON.parse((await baton(['dlq', 'ls', '--json'])).stdout) as {
      taskId: string
    }[]
    const words = ['dlq', 'release', letter?.taskId ?? '', '--as']
    const release = (person: string) => fine([...words, person])
    expect(await baton([...words, 'nobody'])).toMatchObject({ exitCode: 2 })
    expect(await release('ann')).toMatch(/one more reviewer is needed/)
    await release('bob')
  })

  it('is not well for doctor where one process is missing', async () => {
    await running.get('archiver')?.stop()
    running.delete('archiver')
    const found = await baton(['doctor'])
    expect(found.stdout).toMatch(
      /✗ every process of this installation is ready[^✗]*archiver at https:/,
    )
    expect(found.exitCode).toBe(1)
    const refused = await baton(['up', '--once', '--reviews', '1'])
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toMatch(/archiver at https:.*systemctl start baton.target/s)
  })
})

/** The commands under its heading, one a line. */
async function readManual(): Promise<readonly string[]> {
  const page = await readFile(join(ROOT, 'infra', 'README.md'), 'utf8')
  const block = /### In three commands\n[^]*?```sh\n([^]*?)```/.exec(page)?.[1] ?? ''
  return block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '')
}

const wordsOf = (line: string, from: string): readonly string[] => {
  const words = line.split(/\s+/)
  return words.slice(words.indexOf(from))
}

async function settingsOf(
  folder: string,
): Promise<readonly (readonly [string, NodeJS.Dict<string>])[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) =>
    file.endsWith('settings.env'),
  )
  return Promise.all(
    files
      .toSorted()
      .map(
        async (file) =>
          [
            file.replace(/\/settings\.env$/, ''),
            parseEnv(await readFile(join(folder, file), 'utf8')),
          ] as const,
      ),
  )
}

/** Private keys that more than one holds, and anything of the superuser outside `admin`. */
function sharedSecrets(settings: Awaited<ReturnType<typeof settingsOf>>): readonly string[] {
  const holders = new Map<string, string[]>()
  for (const [name, told] of settings)
    for (const [key, value = ''] of Object.entries(told)) {
      if (/SIGNING_KEY$|PERSON_KEY$/.test(key))
        holders.set(`${key} ${value}`, [...(holders.get(`${key} ${value}`) ?? []), name])
      if (name !== 'admin' && /:\/\/postgres:/.test(value))
        holders.set(`${key} of ${name}`, [name, 'admin'])
    }
  return [...holders].filter(([, names]) => names.length > 1).map(([what]) => what)
}

/** This machine may lack users and other units, which is not what is judged. */
const isAboutUnits = (line: string): boolean =>
  /baton-?\w*\.(?:service|target)/.test(line) &&
  !/not-found|Failed to (?:connect|prepare)/.test(line)
