// A file of a backup is whole and on disk when it ends, and a disk that takes no more ends it with its own words.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFileSink } from './file-sink.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-sink-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each(['compressed', 'plain'] as const)(
  'what was written %s is there, as it says',
  async (how) => {
    const pieces = Array.from({ length: 20 }, () => randomBytes(100_000))
    const sink = createFileSink(folder, how, how)
    for (const piece of pieces) await sink.write(piece)
    const listed = await sink.end()
    const bytes = await readFile(join(folder, how))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    expect(listed).toEqual({ path: how, bytes: bytes.length, sha256 })
    expect(how === 'plain' ? bytes : zstdDecompressSync(bytes)).toEqual(Buffer.concat(pieces))
  },
)

test.each(['compressed', 'plain'] as const)(
  'a disk that takes no more ends it: %s',
  async (how) => {
    const module = new URL('file-sink.ts', import.meta.url).href
    const script = `
    const { randomBytes } = await import('node:crypto')
    const { createFileSink } = await import(${JSON.stringify(module)})
    const sink = createFileSink(${JSON.stringify(folder)}, 'limited-${how}', '${how}')
    try {
      for (let at = 0; at < 200; at += 1) await sink.write(randomBytes(65_536))
      await sink.end()
    } catch (error) {
      sink.abandon()
      process.stdout.write(error.code)
    }`
    // A limit on the size of files stands for the full disk: the write of a file fails after some went well.
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-c', 'ulimit -f 256; exec "$0" --input-type=module --eval "$1"', process.execPath, script],
      { timeout: 10_000 },
    )
    expect(stdout).toBe('EFBIG')
  },
)
