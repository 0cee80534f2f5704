// The image stays what its page promises: a base by digest of the Node that is pinned, no root, every process, and nothing in it but what was named.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pinnedNode } from '../pinned-tools.mjs'
import { ROOT } from '../setup-step.mjs'
import { NEEDED, PROCESSES } from './settings.mjs'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const dockerfile = read('infra/image/Dockerfile')
const instructions = dockerfile
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line !== '')
const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM ')))

describe('the image', () => {
  it('is of the Node that is pinned, by its digest', () => {
    const [, version] =
      /^ARG BASE=node:([\d.]+)-trixie-slim@sha256:[0-9a-f]{64}$/m.exec(dockerfile) ?? []
    expect(version).toBe(pinnedNode('linux-x64')?.version)
    const bases = instructions.filter((line) => line.startsWith('FROM '))
    for (const base of bases) expect(base).toMatch(/^FROM \$\{BASE\}(?: AS \w+)?$/)
  })

  it('runs as a number that is not root, and takes nothing that root would have to do', () => {
    const users = last.filter((line) => line.startsWith('USER '))
    expect(users).toEqual(['USER 10001:10001'])
    expect(last.filter((line) => line.startsWith('RUN '))).toEqual([])
  })

  it('is given no secret that would stay in a layer', () => {
    expect(dockerfile).not.toMatch(/^(?:ARG|ENV) .*(?:TOKEN|PASSWORD|SECRET|_KEY)/m)
  })

  it('starts every process that there is, and asks each whether it lives', () => {
    const services = readdirSync(join(ROOT, 'services'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'cli')
      .map(({ name }) => name)
    expect([...PROCESSES].toSorted()).toEqual(services.toSorted())
    for (const name of [...services, 'cli'])
      expect([name, existsSync(join(ROOT, 'services', name, 'src/main.ts'))]).toEqual([name, true])
    expect(last.join('\n')).toContain('infra/image/health.mjs')
  })

  it('is built of what is named, without tests, secrets and what was built before', () => {
    const ignored = read('.dockerignore').split('\n')
    expect(ignored).toContain('**')
    for (const never of ['**/node_modules', '**/.env', '**/.baton', '**/*.test.ts'])
      expect(ignored.indexOf(never)).toBeGreaterThan(ignored.indexOf('!infra'))
    expect(ignored.filter((line) => /^!.*(?:\.env|\.git|\.baton)/.test(line))).toEqual([])
  })

  it('holds the packages that processes need, of the lockfile', () => {
    expect(NEEDED).toContain('--prod')
    expect(read('infra/image/install.mjs')).toMatch(/'--frozen-lockfile', '--ignore-scripts'/)
  })
})

/** What a first process of a container does with SIGTERM: `then` runs before it comes. */
async function ended(then: string): Promise<readonly [number | null, string]> {
  const script = `import { endUntilHandled } from './infra/image/signals.mjs'
    endUntilHandled(); ${then}; process.stdout.write('up'); setInterval(() => {}, 1_000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: ROOT })
  let said = ''
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString()
    if (said === 'up') child.kill('SIGTERM')
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return [code, said]
}

describe('the first process of a container', () => {
  it('ends at once by a signal as long as nothing else handles it', async () => {
    expect(await ended('')).toEqual([143, 'up'])
  })

  it('leaves it to the process that handles it from then on', async () => {
    const drain =
      "process.on('SIGTERM', () => { process.stdout.write(' drained'); process.exitCode = 0; process.exit() })"
    expect(await ended(drain)).toEqual([0, 'up drained'])
  })
})
