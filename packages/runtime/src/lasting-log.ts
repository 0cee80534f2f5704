// A log file that never ends who writes it: what cannot be written is left out and counted, and the file has a bound.
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'

export interface LastingLog {
  readonly path: string
  write(text: string | Uint8Array): void
  close(): void
}

interface LogOptions {
  /** Whether the file begins anew, or goes on where it ended. */
  readonly isNew: boolean
  /** At this size it becomes `PATH.1`, over the one before, and begins anew. */
  readonly bytesMax?: number
}

const BYTES_MAX = 64 * 1024 * 1024
/** How long a disk that took nothing is left alone. */
const AGAIN_MS = 1_000
const MODE = 0o600

export function openLastingLog(
  path: string,
  { isNew, bytesMax = BYTES_MAX }: LogOptions,
): LastingLog {
  let flags: 'w' | 'a' = isNew ? 'w' : 'a'
  let file: number | undefined
  let bytes = 0
  let lost = 0
  let triedAt = Number.NEGATIVE_INFINITY
  let isClosed = false

  function open(): number {
    const opened = openSync(path, flags, MODE)
    flags = 'a'
    bytes = fstatSync(opened).size
    return opened
  }

  function put(data: string | Uint8Array): void {
    file ??= open()
    if (bytes > bytesMax) {
      closeSync(file)
      file = undefined
      renameSync(path, `${path}.1`)
      file = open()
    }
    bytes += typeof data === 'string' ? writeSync(file, data) : writeSync(file, data)
  }

  function write(data: string | Uint8Array): void {
    if (isClosed) return
    if (lost > 0 && performance.now() - triedAt < AGAIN_MS) {
      lost += 1
      return
    }
    triedAt = performance.now()
    try {
      if (lost > 0) put(`${JSON.stringify({ level: 'warn', event: 'log.lost', writes: lost })}\n`)
      lost = 0
      put(data)
    } catch {
      lost += 1
      if (file !== undefined) closeQuietly(file)
      file = undefined
    }
  }

  // What stood there is gone from the start on, not from the first line on.
  write('')
  return {
    path,
    write,
    close() {
      isClosed = true
      if (file !== undefined) closeQuietly(file)
      file = undefined
    },
  }
}

function closeQuietly(file: number): void {
  try {
    closeSync(file)
  } catch {
    // What the disk did not take by now is lost, and was counted or is a line of the past.
  }
}
