// Write-ahead log is in its file as it came, also where the disk took a write in parts.
import { randomBytes } from 'node:crypto'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSegmentWriter } from './segment-writer.ts'
import { walFileName } from './wal-files.ts'

const SEGMENT_BYTES = 1_048_576

test('a whole file holds every byte, also where the disk took some writes in parts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'segment-writer-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const handle = await open(folder, 'r')
  const handles = Object.getPrototypeOf(handle) as typeof handle
  await handle.close()
  const write = handles.write as (...given: unknown[]) => unknown
  const writes = vi.spyOn(handles, 'write').mockImplementation(function (
    this: unknown,
    ...given: unknown[]
  ) {
    const [bytes, from, length, position] = given
    return write.call(this, bytes, from, Math.ceil(Number(length) / 2), position)
  } as never)
  onTestFinished(() => writes.mockRestore())
  const written = randomBytes(SEGMENT_BYTES)
  const start = BigInt(SEGMENT_BYTES) * 3n
  const writer = createSegmentWriter(folder, { timeline: 1, segmentBytes: SEGMENT_BYTES, start })
  await writer.write(start, written)
  await writer.close()
  expect(writer.flushed).toBe(start + BigInt(SEGMENT_BYTES))
  const kept = await readFile(join(folder, walFileName(1, 3n, SEGMENT_BYTES)))
  expect(kept.equals(written)).toBe(true)
})
