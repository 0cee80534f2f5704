// A tool that set-up fetches is the one that was pinned, byte for byte, or it is not run.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchTools, isFetched, toolFolder } from './fetch-tools.mjs'
import { pinnedNode, pinnedPnpms } from './pinned-tools.mjs'

const HOSTS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64']

describe('what set-up fetches', () => {
  it('is pinned by exact version and digest for every machine that it knows', () => {
    for (const host of HOSTS) {
      const tools = [pinnedNode(host), ...pinnedPnpms(host)]
      expect(tools.length).toBeGreaterThan(1)
      for (const tool of tools) {
        expect(tool?.version).toMatch(/^\d+\.\d+\.\d+$/)
        expect(tool?.integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/)
      }
    }
    expect(pinnedNode('sunos-x64')).toBeUndefined()
    expect(pinnedPnpms('sunos-x64')).toEqual([])
  })

  it('is nothing else: pnpm installs no package whose digest the lockfile does not say', () => {
    const lockfile = readFileSync(join(import.meta.dirname, '..', 'pnpm-lock.yaml'), 'utf8')
    const packages = lockfile.slice(
      lockfile.indexOf('\npackages:'),
      lockfile.indexOf('\nsnapshots:'),
    )
    const resolutions = [...packages.matchAll(/^ {4}resolution: (.*)$/gm)].map(([, one]) => one)
    expect(resolutions.length).toBeGreaterThan(400)
    const unpinned = resolutions.filter(
      (one) => !/^\{integrity: sha512-[A-Za-z0-9+/]{86}==\}$/.test(one ?? ''),
    )
    expect(unpinned).toEqual([])
  })
})

describe('fetchTools', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'baton-tools-'))
  const folder = join(scratch, 'toolchain')
  const good = packTool('the tool')
  let served = good
  const registry = createServer((request, response) => {
    const { port } = registry.address() as AddressInfo
    if (request.url === '/a-tool/-/a-tool-1.0.0.tgz') response.end(served)
    else if (request.url === '/a-tool') response.end(JSON.stringify(packument(port)))
    else response.writeHead(404).end('{}')
  })
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
    const { port } = registry.address() as AddressInfo
    const npm_config_registry = `http://127.0.0.1:${port}/`
    env = { ...process.env, npm_config_registry, npm_config_noproxy: '127.0.0.1' }
  })
  afterAll(() => {
    registry.close()
    registry.closeAllConnections()
    rmSync(scratch, { recursive: true })
  })

  function packTool(text: string): Buffer {
    mkdirSync(join(scratch, 'package'), { recursive: true })
    const manifest = { name: 'a-tool', version: '1.0.0' }
    writeFileSync(join(scratch, 'package', 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(scratch, 'package', 'tool'), text)
    return execFileSync('tar', ['-cz', '-C', scratch, 'package'])
  }
  // As a registry does that is not honest: what it serves and what it says fit together.
  const packument = (port: number) => ({
    name: 'a-tool',
    'dist-tags': { latest: '1.0.0' },
    versions: {
      '1.0.0': {
        name: 'a-tool',
        version: '1.0.0',
        dist: {
          tarball: `http://127.0.0.1:${port}/a-tool/-/a-tool-1.0.0.tgz`,
          integrity: digestOf(served),
        },
      },
    },
  })
  const digestOf = (bytes: Buffer) =>
    `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const tool = { name: 'a-tool', version: '1.0.0', integrity: digestOf(good) }

  it('takes what was pinned, and knows it afterwards', async () => {
    expect(isFetched(folder, tool)).toBe(false)
    expect(await fetchTools([tool], { folder, env })).toEqual({ status: 0 })
    expect(isFetched(folder, tool)).toBe(true)
    expect(readFileSync(join(toolFolder(folder, 'a-tool'), 'tool'), 'utf8')).toBe('the tool')
    expect(isFetched(folder, { ...tool, integrity: digestOf(Buffer.from('other')) })).toBe(false)
  })

  it('leaves nothing of a package that a registry has replaced, and says so', async () => {
    served = packTool('another tool')
    await expect(fetchTools([tool], { folder, env })).rejects.toMatchObject({
      message: expect.stringContaining('a-tool@1.0.0: what the registry serves is not what'),
      fix: expect.stringContaining('infra/pinned-tools.mjs'),
    })
    expect(existsSync(folder)).toBe(false)
    served = good
  })

  it('says that a version is not there, and takes no other', async () => {
    const later = { ...tool, version: '1.0.1' }
    expect((await fetchTools([later], { folder, env })).status).not.toBe(0)
    expect(existsSync(folder)).toBe(false)
  })

  it('does not take what it did not check', () => {
    mkdirSync(toolFolder(folder, 'a-tool'), { recursive: true })
    writeFileSync(join(toolFolder(folder, 'a-tool'), 'tool'), 'of an earlier version')
    expect(isFetched(folder, tool)).toBe(false)
  })
})
