// Strangers who have nothing but the cold store verify it: Python from the folder, Go's checksum-database packages from any server of files.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readColdWatch, readFirstColdFaults, sealerKey } from '@baton/audit'
import { createBatchSigner, formatVerifierKey } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { privateKey } from './audit-seals-fixture.ts'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, 'outsiders')
const SEALS = 'baton/development/seals'
const CHAIN = 'baton/development/1/s0'

const answers = (command: string, ...args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 30_000 })
    return true
  } catch {
    return false
  }
}

const goPath = [process.env['GOPATH'] ?? '', '/usr/share/gocode'].find((path) =>
  existsSync(join(path, 'src/golang.org/x/mod/sumdb/tlog')),
)
const hasGo = goPath !== undefined && answers('go', 'version')
const hasPython = answers('python3', '--version')

let tiers: Tiers

beforeAll(async () => {
  tiers = await createTiers()
  await tiers.append(0, 600)
  await tiers.sealing.sealed()
  await archive(512)
})
afterAll(() => tiers?.close())

/** What an archiver does until its stop; answers what it logged. */
async function archive(full: number): Promise<string> {
  const before = (await readColdWatch(tiers.fixture.reader))?.lastPass?.endedAt
  const archiver = await tiers.startArchiver()
  await tiers.archived(({ size }) => size === full)
  await eventually(
    async () => (await readColdWatch(tiers.fixture.reader))?.lastPass?.endedAt !== before,
    { deadlineMs: 20_000, describe: () => archiver.output() },
  )
  await archiver.stop()
  return archiver.output()
}

const vkeyOf = (origin: string, key = tiers.sealKey): string =>
  formatVerifierKey(sealerKey(origin, key))

async function readFolder(key = tiers.sealKey): Promise<string> {
  const program = join(FOLDER, 'read_cold.py')
  const args = [program, tiers.folder, vkeyOf(SEALS, key), vkeyOf(CHAIN, key)]
  return (await run('python3', args)).stdout
}

const bundles = async (): Promise<string[]> => {
  const files = await readdir(tiers.folder, { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => path.includes('/tile/entries/'))
}

describe('a cold store alone', () => {
  const title = hasPython ? '' : ' (needs python3)'

  test.skipIf(!hasPython)(
    `is verified by Python from its folder: signatures, entries, hash tiles, roots${title}`,
    async () => {
      expect(await readFolder()).toMatch(
        new RegExp(`^${SEALS} \\d+\n${CHAIN} 600\nseal \\d+ covers 600\n$`),
      )
    },
  )

  test.skipIf(!hasPython)(`is not, once a byte of it was changed${title}`, async () => {
    for (const name of [
      'checkpoint',
      'tile/entries/001',
      'tile/entries/002.p/88',
      'tile/0/001',
      'tile/1/000.p/2',
    ]) {
      const path = join(tiers.folder, CHAIN, name)
      const kept = await readFile(path)
      const changed = Buffer.from(kept)
      const at = Math.floor(changed.length / 2)
      changed[at] = (changed[at] as number) ^ 1
      await writeFile(path, changed)
      await expect(readFolder()).rejects.toThrow(/Error/)
      await writeFile(path, kept)
    }
  })

  test.skipIf(!hasGo).each([SEALS, CHAIN])(
    `behind a server of files, is proven by golang.org/x/mod/sumdb: %s${hasGo ? '' : ' (needs go and golang-golang-x-mod-dev)'}`,
    async (origin) => {
      const server = createServer((request, response) => {
        readFile(join(tiers.folder, request.url ?? '')).then(
          (bytes) => response.end(bytes),
          () => response.writeHead(404).end(),
        )
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${origin}`
      const env = { ...process.env, GO111MODULE: 'off', GOPATH: goPath, GOFLAGS: '' }
      try {
        const args = ['run', join(FOLDER, 'read_log.go'), url, vkeyOf(origin), 'none']
        const { stdout } = await run('go', args, { env })
        expect(stdout).toMatch(new RegExp(`^${origin} \\d+\n$`))
      } finally {
        server.close()
      }
    },
  )
})

describe('a store that was archived before there were heads and standard names', () => {
  test('is read as before, goes on under standard names, and raises no alarm', async () => {
    for (const path of await bundles()) {
      await writeFile(`${path}.zst`, zstdCompressSync(await readFile(path)))
      await rm(path)
    }
    for (const origin of [SEALS, CHAIN]) await rm(join(tiers.folder, origin, 'checkpoint'))
    expect((await tiers.verify()).findings).toEqual([])
    // Nothing new: what ends where the newest head does gets it at the first start.
    expect(await archive(512)).not.toContain('tamper')
    expect(await readFile(join(tiers.folder, CHAIN, 'checkpoint'), 'utf8')).toMatch(
      new RegExp(`^${CHAIN}\n600\n`),
    )
    await tiers.append(0, 300)
    await tiers.sealing.sealed()
    expect(await archive(768)).not.toContain('tamper')
    expect((await readFirstColdFaults(tiers.fixture.reader)).faults).toEqual([])
    expect((await tiers.verify()).findings).toEqual([])
    const names = (await readdir(join(tiers.folder, CHAIN, 'tile/entries'))).toSorted()
    expect(names).toEqual(['000.zst', '001.zst', '002', '002.p', '003.p'])
  })

  test.skipIf(!hasPython)(
    `is verified by Python once its bundles are unpacked beside${hasPython ? '' : ' (needs python3)'}`,
    async () => {
      await expect(readFolder()).rejects.toThrow(/FileNotFoundError/)
      for (const path of await bundles()) {
        if (!path.endsWith('.zst')) continue
        await writeFile(path.slice(0, -'.zst'.length), zstdDecompressSync(await readFile(path)))
      }
      expect(await readFolder()).toMatch(new RegExp(`\n${CHAIN} 900\n`))
      expect((await tiers.verify()).findings).toEqual([])
    },
  )
})

describe('a store that is archived while the key of the seals is changed', () => {
  const next = privateKey()
  const nextKey = createBatchSigner(next).publicKey

  test('has heads by both keys, and raises no alarm with whoever trusts the first one', async () => {
    const archiver = await tiers.startArchiver()
    await tiers.sealer.stop()
    await tiers.append(0, 3)
    await tiers.sealing.startSealer({
      BATON_SEAL_SIGNING_KEY: `${next},${tiers.sealing.sealKey}`,
    })
    // The first key signs the hand-over itself: only what comes after it is signed by the next one.
    await eventually(async () => (await tiers.verify()).seals?.handovers.length === 1, {
      deadlineMs: 20_000,
      describe: 'the seal log is handed over',
    })
    await tiers.append(0, 5)
    await tiers.sealing.sealed()
    const passes = async () => (await readColdWatch(tiers.fixture.reader))?.lastPass?.endedAt
    const before = await passes()
    await eventually(async () => (await passes()) !== before, {
      deadlineMs: 20_000,
      describe: () => archiver.output(),
    })
    expect((await tiers.verify()).findings).toEqual([])
    expect(await archiver.stop()).toBe(0)
    expect(archiver.output()).not.toMatch(/tamper|archive.failed/)
    expect((await readFirstColdFaults(tiers.fixture.reader)).faults).toEqual([])
    const report = await tiers.verify()
    expect(report.findings).toEqual([])
    expect(report.seals?.handovers).toHaveLength(1)
  })

  test.skipIf(!hasPython)(
    `is verified by Python with the new key alone${hasPython ? '' : ' (needs python3)'}`,
    async () => {
      expect(await readFolder(nextKey)).toMatch(new RegExp(`\n${CHAIN} 908\n`))
      await expect(readFolder()).rejects.toThrow(/Error/)
    },
  )
})
