// Reads a file that settings name, which may be anything: nothing waits for whoever would write into a pipe, nothing is read of a device
// that never ends, and no more than its bound of a file that grows.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { codeOf } from './errors.ts'

/** What a person writes: settings, certificates, policies. */
export const FILE_BYTES_MAX = 1_048_576
/** Windows has no such pipes at a path. */
const READING = constants.O_RDONLY | (process.platform === 'win32' ? 0 : constants.O_NONBLOCK)

/** Throws an error whose `code` says why not: that of the system, NO_REGULAR_FILE or TOO_LARGE. Links are followed. */
export async function readRegularFile(path: string, bytesMax = FILE_BYTES_MAX): Promise<Buffer> {
  const file = await open(path, READING)
  try {
    const bytes = roomFor(await file.stat(), bytesMax)
    let filled = 0
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return within(bytes.subarray(0, filled), bytesMax)
  } finally {
    await file.close()
  }
}

/** The same before anything else runs; `check` may refuse the file by what is known of it. */
export function readRegularFileNow(
  path: string,
  bytesMax = FILE_BYTES_MAX,
  check: (file: Stats) => void = () => undefined,
): Buffer {
  const file = openSync(path, READING)
  try {
    const found = fstatSync(file)
    const bytes = roomFor(found, bytesMax)
    check(found)
    let filled = 0
    while (filled < bytes.length) {
      const bytesRead = readSync(file, bytes, filled, bytes.length - filled, null)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return within(bytes.subarray(0, filled), bytesMax)
  } finally {
    closeSync(file)
  }
}

/** What was thrown, in words, for example `cannot be read (ENOENT)`. */
export function problemOf(error: unknown, bytesMax: number): string {
  const code = codeOf(error)
  if (code === 'NO_REGULAR_FILE') return 'is no regular file'
  return code === 'TOO_LARGE' ? `is larger than ${bytesMax} bytes` : `cannot be read (${code})`
}

/** Some systems say of files that they make when they are read that they are empty. */
const ROOM_MIN = 65_536

function roomFor(file: Stats, bytesMax: number): Buffer {
  if (!file.isFile()) throw fault('NO_REGULAR_FILE', 'this is no regular file')
  if (file.size > bytesMax) throw tooLarge(bytesMax)
  // With a byte more than there may be, what is too large is told from what just fits.
  return Buffer.alloc(Math.min(bytesMax, Math.max(file.size, ROOM_MIN)) + 1)
}

function within(bytes: Buffer, bytesMax: number): Buffer {
  if (bytes.length > bytesMax) throw tooLarge(bytesMax)
  return bytes
}

const tooLarge = (bytesMax: number): Error =>
  fault('TOO_LARGE', `it has more than ${bytesMax} bytes`)

const fault = (code: string, message: string): Error => Object.assign(new Error(message), { code })
