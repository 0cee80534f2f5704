// One instance, several commands: they share its services, notice each other, and clear up after a killed one.
import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { discardPostgres, isAlive } from '@baton/embedded'
import { eventually, pauseTree, spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCommandLine, runCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'
import { isFine, summaryOf } from './main-job.ts'
import { typePage } from './typed-page.ts'

const START_MAX_MS = 90_000
const CONTRACT = fileURLToPath(new URL('../../services/cli/package.json', import.meta.url))

/** Twenty seconds of waiting, and what two more commands take. */
const PAUSED_MAX_MS = 120_000

/** A small disk can be filled; only root may make one. */
const isRoot = process.getuid?.() === 0
const DISK_BYTES = 400 * 1024 * 1024
const run = promisify(execFile)
const LANGUAGES = [
  { language: 'typescript', needs: '', isThere: true },
  {
    language: 'python',
    needs: ' (needs python3)',
    isThere: spawnSync('python3', ['--version']).status === 0,
  },
]

const recordIn = async (home: string) =>
  JSON.parse(await readFile(join(home, 'pg.json'), 'utf8')) as {
    readonly details: { readonly pid: number }
  }

async function servedIn(home: string) {
  const record = JSON.parse(await readFile(join(home, 'instance.json'), 'utf8')) as {
    readonly services: readonly { name: string; pid: number; restarts: number }[]
  }
  return record.services
}

interface Target {
  readonly targets: readonly string[]
  readonly labels: { readonly job: string }
}

async function monitoringOf(home: string) {
  const read = (name: string) => readFile(join(home, 'monitoring', name), 'utf8')
  const targets = JSON.parse(await read('prometheus-targets.json')) as readonly Target[]
  return { targets, key: (await read('metrics-key')).trim() }
}

describe('an instance that stays up', () => {
  let baton: CommandLine
  let up: ServiceProcess

  const start = (reviews = 5) =>
    spawnService({
      main: 'services/cli/src/main.ts',
      args: ['up', '--reviews', String(reviews), '--no-redis', '--home', baton.home],
      ready: /Baton is up/,
      readyMaxMs: START_MAX_MS,
    })

  const seen = (words: RegExp, from = 0) =>
    eventually(() => words.test(up.output().slice(from)), {
      deadlineMs: START_MAX_MS,
      describe: () => `${words.source}\n${up.output()}`,
    })

  beforeAll(async () => {
    baton = await openCommandLine()
    const disk = `size=${DISK_BYTES},mode=755`
    if (isRoot) await run('mount', ['-t', 'tmpfs', '-o', disk, 'baton-e2e', baton.home])
    up = await start()
  }, START_MAX_MS)
  afterAll(async () => {
    await up.kill()
    await discardPostgres(join(baton.home, 'pg'))
    if (isRoot) await run('umount', ['--lazy', baton.home])
    await baton.discard()
  })

  it('answers HTTP where it says', async () => {
    const url = /gateway (http:\S+?)\.\s/.exec(up.output())?.[1]
    expect((await fetch(new URL('/healthz', url))).status).toBe(200)
  })

  it('tells programs how to join it, and takes nothing of that for its own commands', async () => {
    const told = await baton.run('env', '--json')
    expect(told.exitCode).toBe(0)
    const printed = JSON.parse(told.stdout) as Record<string, string>
    const keyFile = printed['BATON_API_KEY_FILE'] ?? ''
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600)
    const key = (await readFile(keyFile, 'utf8')).trim()
    const answer = await fetch(new URL('/v2/tasks', printed['BATON_GATEWAY_URL']), {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(answer.status).toBe(200)
    const secrets = Object.keys(printed).filter((name) => /KEYS?$|TOKEN$|DATABASE_URL$/.test(name))
    expect(secrets).toEqual([])
    const moved = { ...printed, BATON_GATEWAY_URL: 'http://127.0.0.1:1' }
    const { stdout } = await baton.runWith(moved, 'env', '--as', 'reviewer-1')
    const shown = 'cat "$BATON_API_KEY_FILE"'
    const evaluated = await run('sh', ['-c', `eval "$1"; ${shown}`, 'sh', stdout])
    expect(evaluated.stdout).toMatch(/^bk_reviewer-1_/)
    expect(stdout).toContain(`BATON_GATEWAY_URL=${printed['BATON_GATEWAY_URL']}`)
    const nowhere = await runCommandLine(['env', '--home', join(baton.home, 'none')], {})
    expect(nowhere).toMatchObject({ exitCode: 5, stdout: '' })
    expect(nowhere.stderr).toMatch(/no Baton runs in .*BATON_INSTANCE_NOT_RUNNING\)\n +Start one/)
  })

  for (const { language, needs, isThere } of LANGUAGES)
    it.skipIf(!isThere)(`runs a new agent in ${language} as its page says${needs}`, async () => {
      const folder = join(baton.home, `new-${language}`)
      const words = ['new', 'agent', `count-${language}`, '--language', language, '--into', folder]
      expect(await baton.run(...words)).toMatchObject({ exitCode: 0 })
      const { sent, trace, agent } = await typePage(folder)
      expect(sent).toMatch(/^COMPLETED \{"words": ?4\}$/m)
      expect(trace).toContain(`count-${language}-sender → count-${language}`)
      expect(agent).toContain('4 words')
      const again = await baton.run(...words)
      expect(again).toMatchObject({ exitCode: 2 })
      expect(again.stderr).toContain('is not empty, and nothing there is replaced')
    })

  it('tells a Prometheus where its processes show their metrics, and with which key', async () => {
    const { targets, key } = await monitoringOf(baton.home)
    expect(targets.map(({ labels }) => labels.job).toSorted()).toEqual([
      'baton-archiver',
      'baton-auditor',
      'baton-gateway',
      'baton-receiver',
      'baton-sealer',
    ])
    for (const {
      targets: [host = ''],
      labels,
    } of targets) {
      const authorization = `Bearer ${labels.job === 'baton-gateway' ? key : ''}`
      const answer = await fetch(`http://${host}/metrics`, { headers: { authorization } })
      expect([labels.job, answer.status]).toEqual([labels.job, 200])
      expect(await answer.text()).toContain(`service="${labels.job.slice('baton-'.length)}"`)
    }
  })

  it('serves other commands, which start nothing of their own', async () => {
    const review = await baton.run('review-contract', CONTRACT, '--json')
    expect(review.exitCode).toBe(0)
    expect(review.stderr).not.toContain('services')
    const doctor = await baton.run('doctor')
    expect(doctor.exitCode).toBe(0)
    expect(doctor.stdout).toContain('✓ services')
  })

  it('is not called ready while one of its services does not answer', async () => {
    const services = await servedIn(baton.home)
    for (const name of ['receiver', 'archiver']) {
      const resume = await pauseTree(services.find((one) => one.name === name)?.pid ?? 0)
      const { exitCode, stdout } = await baton.run('doctor')
      resume()
      expect(exitCode).toBe(1)
      expect(stdout).toMatch(new RegExp(`✗ the services are ready: ${name} not ready`))
    }
    expect((await baton.run('doctor')).exitCode).toBe(0)
  })

  it('refuses a command that wants another queue', async () => {
    const { exitCode, stderr } = await baton.run('review-contract', CONTRACT, '--redis')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('BATON_INSTANCE_BUSY')
  })

  it(
    'keeps a Postgres that does not answer, whatever other commands find',
    async () => {
      const { pid } = (await recordIn(baton.home)).details
      const resume = await pauseTree(pid)
      const waited = await baton.run('tasks')
      expect(waited.exitCode).toBe(1)
      expect(waited.stderr).toMatch(
        new RegExp(
          `Waits for Postgres: process ${pid} .* process ${up.pid} \\(.*main.ts up .*uses it`,
        ),
      )
      expect(waited.stderr).toContain('(BATON_SERVER_SILENT)')
      expect(isAlive({ pid, startedAt: null })).toBe(true)
      resume()
      expect((await baton.run('tasks')).exitCode).toBe(0)
      expect((await recordIn(baton.home)).details.pid).toBe(pid)
      const review = await baton.run('review-contract', CONTRACT, '--json')
      expect(review.exitCode).toBe(0)
    },
    PAUSED_MAX_MS,
  )

  it(
    'starts again whatever dies, says so and counts',
    async () => {
      const before = await servedIn(baton.home)
      const postgres = (await recordIn(baton.home)).details.pid
      for (const { pid } of [...before, { pid: postgres }]) process.kill(pid, 'SIGKILL')
      const all = [...before.map(({ name }) => name), 'postgres']
      const isBack = (name: string) => new RegExp(`✓ ${name} +runs again`).test(up.output())
      await eventually(() => all.every(isBack), {
        deadlineMs: START_MAX_MS,
        describe: () => `all run again\n${up.output()}`,
      })
      for (const name of all) expect(up.output()).toMatch(new RegExp(`✗ ${name} +ended`))
      // What was said is written down a moment later.
      const areCounted = async () =>
        (await servedIn(baton.home)).every(({ restarts }) => restarts > 0)
      await eventually(areCounted, { deadlineMs: 5_000, describe: () => 'every restart counted' })
      const review = await baton.run('review-contract', CONTRACT, '--json')
      expect(review).toMatchObject({ exitCode: 0 })
      const doctor = await baton.run('doctor')
      expect(doctor.exitCode).toBe(0)
      expect(doctor.stdout).toMatch(/receiver: started again \d+ times?, last after SIGKILL/)
    },
    PAUSED_MAX_MS,
  )

  it.skipIf(!isRoot)(
    'goes on by itself when a full disk has room again (needs root)',
    async () => {
      const filler = join(baton.home, 'filler')
      await expect(writeFile(filler, Buffer.alloc(DISK_BYTES))).rejects.toThrow('ENOSPC')
      // What runs goes on answering; what would write a log of its own there cannot.
      expect((await baton.run('tasks')).exitCode).toBe(0)
      const refused = await baton.run('verify')
      expect(refused.exitCode).toBe(1)
      expect(refused.stderr).toMatch(/the disk is full.*\(BATON_DISK_FULL\)\n +Free some space/)
      process.kill((await recordIn(baton.home)).details.pid, 'SIGKILL')
      await seen(/✗ postgres +ended: the disk is full.*tried again until it runs/)
      const told = up.output().length
      await rm(filler)
      await seen(/✓ postgres +runs again/, told)
      expect(up.output()).not.toMatch(/\n +at |bug in Baton/)
      expect((await baton.run('tasks')).exitCode).toBe(0)
    },
    PAUSED_MAX_MS,
  )

  it(
    'is served by a second command from where the first is killed',
    async () => {
      const second = await start(1)
      const told = second.output().length
      const { pid } = up
      await up.kill()
      up = second
      await seen(
        new RegExp(`process ${pid}, which served, has ended; this command serves now`),
        told,
      )
      await seen(/✓ services/, told)
      const review = await baton.run('review-contract', CONTRACT, '--json')
      expect(review).toMatchObject({ exitCode: 0 })
    },
    PAUSED_MAX_MS,
  )

  it(
    'leaves a service that keeps dying, names it, and goes on with the rest',
    async () => {
      const killed = new Set<number>()
      await eventually(
        async () => {
          const { pid } = (await servedIn(baton.home)).find(({ name }) => name === 'witness') ?? {}
          if (pid !== undefined && !killed.has(pid)) process.kill(pid, 'SIGKILL')
          killed.add(pid ?? 0)
          return /✗ witness +ended 5 times within a minute.* and is left/.test(up.output())
        },
        { deadlineMs: START_MAX_MS, describe: () => `the witness is left\n${up.output()}` },
      )
      expect(up.output()).toContain(join(baton.home, 'logs', 'witness.log'))
      // On a slow machine more ends may lie within more than a minute, and the record is written a moment after it is told.
      // It may also have ended in its start, which is too slow then.
      const left =
        /witness: kept ending \((?:SIGKILL|exit code 1)\) and was left after \d+ restarts/
      const doctor = { stdout: '' }
      await eventually(
        async () => {
          const { exitCode, stdout } = await baton.run('doctor')
          Object.assign(doctor, { stdout })
          return exitCode === 1 && left.test(stdout)
        },
        { deadlineMs: START_MAX_MS, describe: () => `doctor names it\n${doctor.stdout}` },
      )
      expect((await baton.run('tasks')).exitCode).toBe(0)
    },
    PAUSED_MAX_MS,
  )

  it('leaves nothing behind when it is killed but what the next command takes over and ends', async () => {
    const before = (await servedIn(baton.home)).filter(({ name }) => name !== 'witness')
    const { pid } = (await recordIn(baton.home)).details
    const receiver = before.find(({ name }) => name === 'receiver')?.pid ?? 0
    // A paused one cannot hear that its command is gone.
    await pauseTree(receiver)
    await up.kill()
    const listed = await baton.run('tasks')
    expect(listed.exitCode).toBe(0)
    expect(listed.stderr).toMatch(
      new RegExp(
        `leftovers +ended: .*receiver ${receiver}.* of process ${up.pid}, which was killed`,
      ),
    )
    expect(listed.stderr).toMatch(
      new RegExp(`Takes over Postgres \\(process ${pid}\\), left by a command that was killed`),
    )
    for (const left of [...before, { pid }])
      await eventually(() => !isAlive({ pid: left.pid, startedAt: null }), {
        deadlineMs: START_MAX_MS,
        describe: () => `process ${left.pid} ends`,
      })
    expect((await baton.run('doctor')).exitCode).toBe(0)
  })

  it('drains and ends with 0 on SIGINT once the main job was fine', async () => {
    up = await start()
    up.signal('SIGINT')
    const { code, signal } = await up.exited()
    expect(signal).toBeNull()
    expect(isFine({ exitCode: code, stderr: up.output() })).toBe(true)
    expect((await baton.run('doctor')).stdout).toContain('– services')
    expect((await monitoringOf(baton.home)).targets).toEqual([])
  })
})

describe('a main job that is interrupted', () => {
  let baton: CommandLine
  beforeAll(async () => {
    baton = await openCommandLine()
  })
  afterAll(() => baton.discard())

  it('ends with 130, loses nothing and can run again', async () => {
    const up = await spawnService({
      main: 'services/cli/src/main.ts',
      args: ['up', '--once', '--json', '--no-redis', '--home', baton.home],
      ready: /under way/,
    })
    up.signal('SIGINT')
    expect(await up.exited()).toEqual({ code: 130, signal: null })
    expect(JSON.parse(up.stdout())).toMatchObject({ error: { code: 'BATON_INTERRUPTED' } })
    expect((await baton.run('doctor')).exitCode).toBe(0)
    const again = summaryOf(
      await baton.run('up', '--once', '--reviews', '5', '--json', '--no-redis'),
    )
    expect(again['chainVerified']).toBe(true)
  })
})

const postgresHome = async ({ home }: CommandLine): Promise<string> => {
  const { details } = JSON.parse(await readFile(join(home, 'pg.json'), 'utf8')) as {
    readonly details: { readonly home: string }
  }
  return details.home
}

describe('an instance whose database is gone', () => {
  it('is not begun anew while its seals are there', async () => {
    const baton = await openCommandLine()
    expect((await baton.run('migrate')).exitCode).toBe(0)
    await mkdir(join(baton.home, 'seals'))
    await writeFile(join(baton.home, 'seals', 'sealer.json'), '{}')
    const home = await postgresHome(baton)
    await rename(join(home, 'data'), join(home, 'data.away'))
    for (const command of [['migrate'], ['tasks'], ['up', '--once', '--no-redis']]) {
      const { exitCode, stderr } = await baton.run(...command)
      expect(exitCode).toBe(1)
      expect(stderr).toContain('BATON_POSTGRES_DATA_LOST')
      expect(stderr).toMatch(/Put the folder back from a backup.*move the whole folder/s)
    }
    expect(existsSync(join(home, 'data'))).toBe(false)
    await rename(join(home, 'data.away'), join(home, 'data'))
    expect((await baton.run('migrate')).exitCode).toBe(0)
    await baton.discard()
  })

  it('is not begun anew where a restore of it was killed', async () => {
    const baton = await openCommandLine()
    expect((await baton.run('migrate')).exitCode).toBe(0)
    const home = await postgresHome(baton)
    await rename(join(home, 'data'), join(home, 'data.restored.draft'))
    await writeFile(join(baton.home, 'restoring.json'), '{"began":"2026-11-28T03:00:00.000Z"}\n')
    const { exitCode, stderr } = await baton.run('tasks')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/did not come to its end \(BATON_RESTORE_UNFINISHED\)/)
    expect(stderr).toContain('Run that `restore` again')
    expect(existsSync(join(home, 'data'))).toBe(false)
    await baton.discard()
  })
})

describe('without an instance', () => {
  let baton: CommandLine
  beforeAll(async () => {
    baton = await openCommandLine()
  })
  afterAll(() => baton.discard())

  it('a secret that cannot be read is named, and nothing is left running', async () => {
    const file = join(baton.home, 'secrets', 'archive.json')
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, '{', { mode: 0o600 })
    const { exitCode, stderr } = await baton.run('up', '--once', '--no-redis')
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`${file} cannot be read (BATON_SECRETS_UNREADABLE)`)
    expect(existsSync(join(baton.home, 'pg.json'))).toBe(false)
    await rm(join(baton.home, 'secrets'), { recursive: true })
  })

  it('reading commands say how to make one', async () => {
    const { exitCode, stderr } = await baton.run('verify')
    expect(exitCode).toBe(5)
    expect(stderr).toContain('npm run up')
  })
})

describe('a Redis that does not answer', () => {
  it('is named before anything is sent', async () => {
    const baton = await openCommandLine({ BATON_REDIS_URL: 'redis://127.0.0.1:1' })
    const { exitCode, stderr } = await baton.run('up', '--once')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('the Redis at 127.0.0.1:1 does not answer (BATON_REDIS_UNAVAILABLE)')
    expect(stderr).toContain('Check BATON_REDIS_URL')
    await baton.discard()
  })
})
