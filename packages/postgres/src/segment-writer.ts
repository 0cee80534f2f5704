// Writes the write-ahead log that comes from a server into the files that pg_receivewal would write.
import { constants } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { walFileName } from './wal-files.ts'

const { O_CREAT, O_RDWR } = constants

export interface SegmentWriter {
  readonly flushed: bigint
  write(at: bigint, bytes: Buffer): Promise<void>
  flush(): Promise<void>
  close(): Promise<void>
}

/** Files are whole under their name, and `.partial` until then, filled up with zeros to the length that Postgres expects. */
export function createSegmentWriter(
  folder: string,
  {
    timeline,
    segmentBytes,
    start,
  }: Readonly<{ timeline: number; segmentBytes: number; start: bigint }>,
): SegmentWriter {
  const size = BigInt(segmentBytes)
  let file: FileHandle | undefined
  let segment = 0n
  let written = start
  let flushed = start
  const pathOf = () => join(folder, walFileName(timeline, segment, segmentBytes))

  async function openAt(at: bigint): Promise<FileHandle> {
    segment = at / size
    // What an earlier run wrote stays there until the same comes again.
    const opened = await open(`${pathOf()}.partial`, O_RDWR | O_CREAT, 0o600)
    await opened.truncate(segmentBytes)
    return opened
  }

  async function finish(): Promise<void> {
    if (file === undefined) return
    await file.datasync()
    await file.close()
    file = undefined
    await rename(`${pathOf()}.partial`, pathOf())
    await using parent = await open(folder, 'r')
    await parent.sync()
    flushed = written
  }

  return {
    get flushed() {
      return flushed
    },
    async write(at, bytes) {
      let position = at
      let rest = bytes
      while (rest.length > 0) {
        file ??= await openAt(position)
        const within = Number(position % size)
        const part = rest.subarray(0, segmentBytes - within)
        // A disk that is nearly full takes a part of it, and says why with the next.
        const { bytesWritten } = await file.write(part, 0, part.length, within)
        position += BigInt(bytesWritten)
        written = position
        rest = rest.subarray(bytesWritten)
        if (position % size === 0n) await finish()
      }
    },
    async flush() {
      if (file === undefined || flushed === written) return
      const upTo = written
      await file.datasync()
      flushed = upTo
    },
    async close() {
      await file?.datasync()
      await file?.close()
      file = undefined
    },
  }
}
