// From the command line alone: evidence that verifies offline, a turned byte named, a drill, a sealer that lost its state.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'

const CONTRACT = fileURLToPath(new URL('../../services/cli/package.json', import.meta.url))

const START_MAX_MS = 90_000

let baton: CommandLine
let serving: ServiceProcess
let file: string
let policy: string

// Services that stay up without a main job, for the commands until the drill: each would start its own.
beforeAll(async () => {
  baton = await openCommandLine()
  serving = await spawnService({
    main: 'services/cli/src/main.ts',
    args: ['import', '--watch', '--agent', 'nobody', '--home', baton.home],
    env: { HANDOFF_DIR: join(baton.home, 'offers') },
    ready: /Importing until/,
    readyMaxMs: START_MAX_MS,
  })
  file = join(baton.home, 'task.tar')
  policy = join(baton.home, 'auditor.policy')
}, START_MAX_MS)
afterAll(async () => {
  await serving?.stop()
  await baton?.discard()
})

/** The texts that a bundle shows, without their salts. */
async function textsOf(bundle: string): Promise<string[]> {
  const written = (await readFile(bundle, 'latin1')).matchAll(/"salted":"([^"]+)"/g)
  return [...written].map(([, salted = '']) => Buffer.from(salted, 'base64').toString('utf8', 32))
}

describe('evidence', () => {
  it('is written with its policy, and verifies with all that an auditor needs', async () => {
    expect((await baton.run('review-contract', CONTRACT)).exitCode).toBe(0)
    const listed = await baton.run('tasks', '--json', '--limit', '1')
    const [task] = JSON.parse(listed.stdout) as { taskId: string; result: object }[]
    const to = ['--out', file, '--policy-out', policy]
    const written = await baton.run('evidence', task?.taskId ?? '', '--with-payloads', ...to)
    expect([written.exitCode, written.stderr]).toEqual([0, written.stderr])
    expect(written.stdout).toContain('✓ verdict')
    expect(await textsOf(file)).toContain(JSON.stringify(task?.result))
    const verified = await baton.run('verify', file, '--policy', policy)
    expect(verified.exitCode).toBe(0)
    expect(verified.stdout).not.toContain('✗')
    for (const check of ['receipt', 'witness quorum', 'exporter signature', 'batch signature']) {
      expect(verified.stdout).toMatch(new RegExp(`✓ ${check} `))
    }
    expect((await baton.run('policy')).stdout.trim()).toBe((await readFile(policy, 'utf8')).trim())
  })

  it('with one turned byte ends with 3 and says where, and by which rule', async () => {
    const bytes = await readFile(file)
    const places: readonly (readonly [number, RegExp])[] = [
      [bytes.indexOf('HANDOFF_ACCEPTED'), /RECORD_HASH: records\.jsonl: \S+ record \d+/],
      [bytes.indexOf('\u2014 ') + 9, /MANIFEST_DIGEST: manifest\.sha256/],
      [bytes.indexOf('c2sp.org/tlog-proof'), /SEAL_INCLUSION: seal\.tlog-proof/],
      [bytes.length - 1, /CONTAINER: \(byte \d+\)/],
    ]
    const ended = places.map(async ([at, says]) => {
      const copy = Buffer.from(bytes)
      copy[at] = (copy[at] as number) ^ 1
      const bad = join(baton.home, `bad-${at}.tar`)
      await writeFile(bad, copy)
      const verified = await baton.run('verify', bad, '--policy', policy)
      expect(verified.stdout).toMatch(says)
      return verified.exitCode
    })
    expect(await Promise.all(ended)).toEqual([3, 3, 3, 3])
  })

  it('of nothing is not found, and without a policy is not verified', async () => {
    expect((await baton.run('verify', file)).exitCode).toBe(2)
    expect(
      (await baton.run('verify', join(baton.home, 'none.tar'), '--policy', policy)).exitCode,
    ).toBe(5)
    const unknown = '00000000-0000-4000-8000-000000000000'
    expect((await baton.run('evidence', unknown, '--no-redis')).exitCode).toBe(2)
    expect((await baton.run('evidence', unknown)).exitCode).toBe(5)
  })
})

describe('a drill', () => {
  it('is within its limit, and stands in the trace of the task', async () => {
    // It starts services anew: what the export recorded a moment ago is sealed by then.
    expect(await serving.stop()).toBe(0)
    const { exitCode, stdout } = await baton.run('audit', 'drill', '--seed', '3', '--json')
    expect(exitCode).toBe(0)
    const report = JSON.parse(stdout) as { taskId: string; totalMs: number }
    expect(report).toMatchObject({ seed: 3, result: 'passed', verdict: 'valid' })
    expect(report.totalMs).toBeLessThan(10_000)
    const trace = await baton.run('trace', report.taskId)
    expect(trace.stdout).toContain('VERIFY_RUN')
    expect(trace.stdout).toContain('DRILL_PASSED')
  })
})

describe('a sealer without its state file', () => {
  it('starts nothing, is recovered by a command, and the log goes on', async () => {
    await rm(join(baton.home, 'seals', 'sealer.json'))
    const refused = await baton.run('audit', 'drill')
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining('recover-seals'),
    ])
    const recovered = await baton.run('audit', 'recover-seals')
    expect(recovered.exitCode).toBe(0)
    expect(recovered.stdout).toMatch(/vouched for by witness \S+: \d+ seals/)
    expect((await baton.run('audit', 'recover-seals')).exitCode).toBe(1)
    expect((await baton.run('audit', 'drill')).exitCode).toBe(0)
    expect((await baton.run('verify')).exitCode).toBe(0)
  })
})

describe('a cold store with a missing object', () => {
  it('is found, stops its archiver, is mended by a command, and the log goes on', async () => {
    const cold = join(baton.home, 'cold')
    // A chain that nothing was recorded in has only its head.
    const kept = await readdir(cold, { recursive: true })
    const bundles = kept.find((name) => /\/s\d+\/tile\/entries$/.test(name)) ?? ''
    await rm(join(cold, bundles, '..', '..'), { recursive: true })
    const found = await baton.run('verify')
    expect(found.exitCode).toBe(3)
    expect(found.stderr).toContain('is missing from the cold store (TILE_MISSING)')
    const mended = await baton.run('audit', 'mend-cold')
    expect(mended.exitCode).toBe(0)
    expect(mended.stdout).toContain('Written anew')
    expect((await baton.run('verify')).exitCode).toBe(0)
    expect((await baton.run('audit', 'tiers')).exitCode).toBe(0)
  })
})
